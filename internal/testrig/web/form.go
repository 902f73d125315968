package web

import (
	"bytes"
	"mime/multipart"
	"testing"
)

// Form returns the body and the Content-Type of a form with one field: a text or, if file is set, a file.
func Form(t testing.TB, name, value string, file bool) (body, contentType string) {
	t.Helper()
	var out bytes.Buffer
	form := multipart.NewWriter(&out)
	add := func() error { return form.WriteField(name, value) }
	if file {
		add = func() error {
			part, err := form.CreateFormFile(name, "entries.txt")
			if err == nil {
				_, err = part.Write([]byte(value))
			}
			return err
		}
	}
	if err := add(); err != nil {
		t.Fatal(err)
	}
	if err := form.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String(), form.FormDataContentType()
}
