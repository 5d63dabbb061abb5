package e2e

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// cloud puts the served endpoint where AWS is: cloud ACCOUNT. A proxy, in HTTPS_PROXY,
// answers for sqs and sts of every region under a certificate of its own, in
// AWS_CA_BUNDLE, as a company's proxy does. No endpoint is configured. The actions that
// it is asked for are written to calls.txt, with the host.
func cloud(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: cloud ACCOUNT")
	}
	behind, err := url.Parse(ts.Getenv("AWS_ENDPOINT_URL"))
	ts.Check(err)
	certificate, bundle, err := certify("*.us-east-1.amazonaws.com", "sqs.eu-central-1.amazonaws.com", "sts.eu-central-1.amazonaws.com")
	ts.Check(err)
	file := filepath.Join(ts.Getenv("WORK"), "ca.pem")
	ts.Check(os.WriteFile(file, bundle, 0o600))
	log := filepath.Join(ts.Getenv("WORK"), "calls.txt")
	ts.Check(os.WriteFile(log, nil, 0o600))

	inside := httputil.NewSingleHostReverseProxy(behind)
	aws := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isTokens(r) && strings.HasPrefix(r.Host, "sts.") {
			identity(w, args[0])
			return
		}
		_, action, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
		if err := note(log, action+" "+r.Host); err != nil || !strings.HasPrefix(r.Host, "sqs.") {
			http.Error(w, "no such service", http.StatusBadGateway)
			return
		}
		inside.ServeHTTP(w, r)
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	secured := make(chan net.Conn)
	server := &http.Server{Handler: aws, ReadHeaderTimeout: time.Minute}
	go func() {
		_ = server.Serve(tls.NewListener(&handed{Listener: listener, conns: secured}, &tls.Config{Certificates: []tls.Certificate{certificate}}))
	}()
	go tunnels(listener, secured)
	ts.Defer(func() {
		_ = listener.Close()
		_ = server.Close()
	})
	ts.Setenv("HTTPS_PROXY", "http://"+listener.Addr().String())
	ts.Setenv("AWS_CA_BUNDLE", file)
	ts.Setenv("SERVED", behind.String())
	ts.Setenv("AWS_ENDPOINT_URL", "")
}

// handed is a listener whose connections are handed to it.
type handed struct {
	net.Listener
	conns chan net.Conn
}

func (h *handed) Accept() (net.Conn, error) {
	conn, open := <-h.conns
	if !open {
		return nil, net.ErrClosed
	}
	return conn, nil
}

// tunnels takes connections to a proxy, answers their CONNECT and hands them on.
func tunnels(listener net.Listener, to chan<- net.Conn) {
	defer close(to)
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		request, err := http.ReadRequest(bufio.NewReader(conn))
		if err != nil || request.Method != http.MethodConnect || !strings.HasSuffix(request.Host, ".amazonaws.com:443") {
			_ = conn.Close()
			continue
		}
		if _, err := fmt.Fprint(conn, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
			_ = conn.Close()
			continue
		}
		to <- conn
	}
}

// certify makes a certificate for hosts that signs itself, and its PEM.
func certify(hosts ...string) (tls.Certificate, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, DNSNames: hosts,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), nil
}
