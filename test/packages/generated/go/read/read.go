// Package read reads everything through a generated client, and prints what it got.
package read

import (
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// A Lead has the fields that are compared.
type Lead struct {
	ID   string
	At   time.Time
	Name string
}

// A Client calls the operations of a generated client.
type Client struct {
	// Page returns up to 100 leads since Since, and the cursor of the next page if there is one.
	Page func(before *time.Time) ([]Lead, *time.Time)
	// Filtered returns the leads of Nevada that have an email address.
	Filtered func() []Lead
	Pixels   func() []string
	Requests func() int
	// Refused returns the code of the error for a pixel that does not exist.
	Refused func() string
}

// Since is a time before every lead.
var Since = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

// The address of the server, and a key.
var BaseURL, Key = os.Args[1], os.Args[2]

// Must returns a value, or ends the program with its error.
func Must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// Everything reads everything through a client, and prints it.
func Everything(client Client) {
	leads, before := client.Page(nil)
	for before != nil {
		var page []Lead
		page, before = client.Page(before)
		leads = append(leads, page...)
	}
	ids := map[string]bool{}
	for _, lead := range leads {
		ids[lead.ID] = true
	}
	names := []string{}
	for _, lead := range client.Filtered() {
		names = append(names, lead.Name)
	}
	pixels, requests := client.Pixels(), client.Requests()
	fmt.Println(string(Must(json.Marshal(map[string]any{
		"leads":    len(ids),
		"newest":   leads[0].At.Unix(),
		"names":    names,
		"pixels":   pixels,
		"requests": requests,
		"code":     client.Refused(),
	}))))
}
