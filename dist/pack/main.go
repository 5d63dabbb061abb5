// Command pack puts built programs into archives, with checksums and an SBOM. The same
// input gives the same bytes: names are sorted, and owners, modes and times are given.
package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() {
	var p packer
	var when int64
	flag.StringVar(&p.from, "from", "", "folder with a folder of files for each archive")
	flag.StringVar(&p.to, "to", "", "folder for the archives")
	flag.StringVar(&p.version, "version", "", "version of the programs")
	flag.Int64Var(&when, "time", 0, "time of all files, in seconds since 1970")
	flag.StringVar(&p.sbom, "sbom", "", "SBOM as cyclonedx-gomod made it")
	flag.Parse()
	p.when = time.Unix(when, 0).UTC()
	if err := p.run(); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

type packer struct {
	from, to, version, sbom string
	when                    time.Time
	made                    []string // names in the folder for the archives
}

func (p *packer) run() error {
	folders, err := os.ReadDir(p.from) // sorted
	if err != nil {
		return fmt.Errorf("listing what was built: %w", err)
	}
	for _, folder := range folders {
		files, err := read(filepath.Join(p.from, folder.Name()))
		if err != nil {
			return err
		}
		var content bytes.Buffer
		name := folder.Name() + ".tar.gz"
		if strings.Contains(folder.Name(), "_windows_") {
			name = folder.Name() + ".zip"
			err = writeZip(&content, folder.Name(), files, p.when)
		} else {
			err = writeTar(&content, folder.Name(), files, p.when)
		}
		if err == nil {
			err = p.keep(name, content.Bytes())
		}
		if err != nil {
			return fmt.Errorf("packing %s: %w", name, err)
		}
	}
	if p.sbom != "" {
		text, err := p.inventory()
		if err == nil {
			err = p.keep("fifoproof_"+p.version+"_sbom.cdx.json", text)
		}
		if err != nil {
			return fmt.Errorf("keeping the SBOM: %w", err)
		}
	}
	return p.sums()
}

func (p *packer) keep(name string, content []byte) error {
	p.made = append(p.made, name)
	return os.WriteFile(filepath.Join(p.to, name), content, 0o644)
}

// sums writes SHA256SUMS as sha256sum --check reads it.
func (p *packer) sums() error {
	slices.Sort(p.made)
	var sums bytes.Buffer
	for _, name := range p.made {
		content, err := os.ReadFile(filepath.Join(p.to, name))
		if err != nil {
			return fmt.Errorf("reading an archive: %w", err)
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(content), name)
	}
	if err := os.WriteFile(filepath.Join(p.to, "SHA256SUMS"), sums.Bytes(), 0o644); err != nil {
		return fmt.Errorf("writing the checksums: %w", err)
	}
	return nil
}

// inventory is the SBOM with our version and time, and without the checksums of the
// tool's own binary, which differ from builder to builder.
func (p *packer) inventory() ([]byte, error) {
	raw, err := os.ReadFile(p.sbom)
	if err != nil {
		return nil, err
	}
	var bom struct {
		Metadata struct {
			Component map[string]any   `json:"component"`
			Tools     []map[string]any `json:"tools"`
		} `json:"metadata"`
	}
	var all map[string]any
	if err := errors.Join(json.Unmarshal(raw, &bom), json.Unmarshal(raw, &all)); err != nil {
		return nil, err
	}
	bom.Metadata.Component["version"] = p.version
	for _, tool := range bom.Metadata.Tools {
		delete(tool, "hashes")
	}
	all["metadata"] = map[string]any{
		"timestamp": p.when.Format(time.RFC3339),
		"component": bom.Metadata.Component,
		"tools":     bom.Metadata.Tools,
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err = encoder.Encode(all)
	return text.Bytes(), err
}

type file struct {
	name    string
	mode    int64
	content []byte
}

// read reads the files of a folder, sorted by name. Programs may be run, all may be read.
func read(folder string) ([]file, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("listing a build: %w", err)
	}
	var files []file
	for _, entry := range entries {
		content, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if err != nil {
			return nil, fmt.Errorf("reading a build: %w", err)
		}
		mode := int64(0o644)
		if ext := filepath.Ext(entry.Name()); ext == ".exe" || ext == "" && entry.Name() != "LICENSE" {
			mode = 0o755
		}
		files = append(files, file{entry.Name(), mode, content})
	}
	return files, nil
}

func writeTar(w io.Writer, folder string, files []file, when time.Time) error {
	packed := gzip.NewWriter(w)
	archive := tar.NewWriter(packed)
	for _, f := range files {
		header := tar.Header{Name: path.Join(folder, f.name), Mode: f.mode, Size: int64(len(f.content)), ModTime: when, Typeflag: tar.TypeReg, Format: tar.FormatUSTAR}
		if err := archive.WriteHeader(&header); err != nil {
			return err
		}
		if _, err := archive.Write(f.content); err != nil {
			return err
		}
	}
	return errors.Join(archive.Close(), packed.Close())
}

func writeZip(w io.Writer, folder string, files []file, when time.Time) error {
	archive := zip.NewWriter(w)
	for _, f := range files {
		header := zip.FileHeader{Name: path.Join(folder, f.name), Method: zip.Deflate, Modified: when}
		header.SetMode(os.FileMode(f.mode))
		part, err := archive.CreateHeader(&header)
		if err != nil {
			return err
		}
		if _, err := part.Write(f.content); err != nil {
			return err
		}
	}
	return archive.Close()
}
