package target

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/stretchr/testify/require"

	"fifoproof/internal/cli"
	"fifoproof/internal/clock"
	"fifoproof/internal/emulator"
)

// stranger is our endpoint in front of which change may alter a request, or answer it
// and return true.
func stranger(t *testing.T, change func(w http.ResponseWriter, action string, body map[string]any) bool) *Target {
	t.Helper()
	bare(t)
	ours := emulator.New(emulator.Options{Clock: clock.Real{}})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		var body map[string]any
		raw, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(raw, &body)
		_, action, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
		if change(w, action, body) {
			return
		}
		if body != nil {
			raw, _ = json.Marshal(body)
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
		ours.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	opened, _, err := Open(t.Context(), server.URL, noEnv)
	require.NoError(t, err)
	return opened
}

func refuse(w http.ResponseWriter, code string) bool {
	w.Header().Set("X-Amzn-Query-Error", code+";Sender")
	w.WriteHeader(http.StatusBadRequest)
	_, _ = w.Write([]byte(`{"__type":"com.amazonaws.sqs#` + code + `","message":"no"}`))
	return true
}

func TestProbe(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(w http.ResponseWriter, action string, body map[string]any) bool
		want   map[string]string // how the capability shows to be missing, in part
	}{
		{"our endpoint lacks what it says it lacks", func(http.ResponseWriter, string, map[string]any) bool { return false }, map[string]string{
			"query": "answered with",
		}},
		{"an attribute that is refused", func(w http.ResponseWriter, action string, body map[string]any) bool {
			attributes, _ := body["Attributes"].(map[string]any)
			_, scoped := attributes["DeduplicationScope"]
			return action == "CreateQueue" && scoped && refuse(w, "InvalidAttributeName")
		}, map[string]string{"scope": "CreateQueue was refused with InvalidAttributeName", "query": ""}},
		{"an attribute that is taken and dropped", func(_ http.ResponseWriter, _ string, body map[string]any) bool {
			if attributes, ok := body["Attributes"].(map[string]any); ok {
				delete(attributes, "DeduplicationScope")
				delete(attributes, "FifoThroughputLimit")
			}
			return false
		}, map[string]string{"scope": "reads back as", "query": ""}},
		{"no FIFO queues", func(w http.ResponseWriter, action string, _ map[string]any) bool {
			return action == "CreateQueue" && refuse(w, "InvalidParameterValue")
		}, map[string]string{"fifo": "refused", "scope": "refused", "redrive": "refused", "query": ""}},
		{"a redrive policy that is taken and dropped", func(_ http.ResponseWriter, _ string, body map[string]any) bool {
			if attributes, ok := body["Attributes"].(map[string]any); ok {
				delete(attributes, "RedrivePolicy")
			}
			return false
		}, map[string]string{"redrive": "RedrivePolicy reads back as \"\"", "query": ""}},
		{"a page instead of an answer", func(w http.ResponseWriter, action string, _ map[string]any) bool {
			if action != "ListMessageMoveTasks" {
				return false
			}
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = w.Write([]byte("<!doctype html>"))
			return true
		}, map[string]string{"move-task": "ListMessageMoveTasks was answered with status 500", "query": ""}},
		{"no move tasks", func(w http.ResponseWriter, action string, _ map[string]any) bool {
			return action == "ListMessageMoveTasks" && refuse(w, "UnsupportedOperation")
		}, map[string]string{"move-task": "refused with", "query": ""}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			opened := stranger(t, tt.change)
			lacks, err := opened.Probe(t.Context(), "fifoproof-test", nil)
			require.NoError(t, err)
			require.Len(t, lacks, len(tt.want), "%v", lacks)
			for capability, how := range tt.want {
				require.Contains(t, lacks[capability], how)
			}
			left, err := opened.client.ListQueues(t.Context(), &sqs.ListQueuesInput{})
			require.NoError(t, err)
			require.Empty(t, left.QueueUrls, "the probe leaves no queue behind")
		})
	}
}

func TestIdentify(t *testing.T) {
	for _, tt := range []struct {
		name  string
		pages map[string]string
		want  Target
	}{
		{"LocalStack", map[string]string{"/_localstack/health": `{"services": {"sqs": "available"}, "edition": "unknown", "version": "4.14.0"}`}, Target{Product: "LocalStack", Version: "4.14.0"}},
		{"MiniStack has LocalStack's page too", map[string]string{
			"/_localstack/health": `{"services": {"sqs": "available"}, "version": "1.5.33"}`,
			"/_ministack/health":  `{"services": {"sqs": "available"}, "version": "1.5.33"}`,
		}, Target{Product: "MiniStack", Version: "1.5.33"}},
		{"whoever says nothing", nil, Target{Product: "unknown"}},
		{"a page of somebody else", map[string]string{"/_localstack/health": `<html>`}, Target{Product: "unknown"}},
		{"a Server header", map[string]string{"server": "Werkzeug/3.1.3 Python/3.11.7"}, Target{Product: "unknown", Server: "Werkzeug 3.1.3"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bare(t)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if said := tt.pages["server"]; said != "" {
					w.Header().Set("Server", said)
				}
				page, found := tt.pages[r.URL.Path]
				switch {
				case r.URL.Path == "/":
					_, _ = w.Write([]byte(`{}`))
				case found:
					_, _ = w.Write([]byte(page))
				default:
					http.NotFound(w, r)
				}
			}))
			t.Cleanup(server.Close)
			opened, _, err := Open(t.Context(), server.URL, noEnv)
			require.NoError(t, err)
			require.Equal(t, tt.want.Product, opened.Product)
			require.Equal(t, tt.want.Version, opened.Version)
			require.Equal(t, tt.want.Server, opened.Server)
		})
	}
}

func TestOpenLocalStackWhereTheEnvironmentSays(t *testing.T) {
	server := served(t, clock.Real{})
	env := func(name string) (string, bool) { return server.URL, name == "FIFOPROOF_LOCALSTACK_URL" }
	opened, _, err := Open(t.Context(), LocalStack, env)
	require.NoError(t, err)
	require.Equal(t, server.URL, opened.Name)
}

// TestProbeUnwelcome: a refusal of the caller says nothing of the endpoint.
func TestProbeUnwelcome(t *testing.T) {
	for code, hint := range map[string]string{
		"ExpiredToken":          "have expired",
		"AccessDenied":          "may not do this",
		"SignatureDoesNotMatch": "does not know these credentials",
	} {
		opened := stranger(t, func(w http.ResponseWriter, action string, _ map[string]any) bool {
			return action == "CreateQueue" && refuse(w, code)
		})
		_, err := opened.Probe(t.Context(), "fifoproof-test", nil)
		require.ErrorContains(t, err, code)
		require.Contains(t, cli.HintOf(err), hint)
	}
}
