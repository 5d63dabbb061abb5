package emulator

import "regexp"

const batchLimit = 10 // entries

var entryID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,80}$`)

// failedEntry is the answer to an entry that failed alone (API reference,
// BatchResultErrorEntry). The request as a whole is answered with 200.
type failedEntry struct {
	Code        string
	ID          string `json:"Id"`
	Message     string
	SenderFault bool
}

func failed(id string, err *apiError) failedEntry {
	return failedEntry{Code: err.code, ID: id, Message: err.message, SenderFault: !err.receiver}
}

// succeededEntry is the answer to an entry that has nothing to tell.
type succeededEntry struct {
	ID string `json:"Id"`
}

// batchOutput is what batches answer. An empty list is left out.
type batchOutput[Success any] struct {
	Failed     []failedEntry `json:",omitempty"`
	Successful []Success     `json:",omitempty"`
}

// checkEntryIDs checks what fails a whole batch whatever is in it. The text about
// a repeated id names the first one seen again, as recorded of AWS.
func checkEntryIDs[E interface{ entryID() string }](entries []E) *apiError {
	switch {
	case len(entries) == 0:
		return emptyBatch()
	case len(entries) > batchLimit:
		return tooManyEntries(len(entries))
	}
	for _, e := range entries {
		if !entryID.MatchString(e.entryID()) {
			return invalidBatchEntryID()
		}
	}
	seen := map[string]bool{}
	for _, e := range entries {
		if seen[e.entryID()] {
			return entryIDsNotDistinct(e.entryID())
		}
		seen[e.entryID()] = true
	}
	return nil
}

// text is the string that p points to, or "".
func text(p *string) string {
	if p == nil {
		return ""
	}
	return *p
}
