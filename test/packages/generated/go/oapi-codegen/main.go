// Reads with the client that oapi-codegen generates.
package main

import (
	"context"
	"net/http"
	"time"

	"example.org/reader/leadfile"
	"example.org/reader/read"
)

func main() {
	ctx := context.Background()
	authorize := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+read.Key)
		return nil
	}
	client := read.Must(leadfile.NewClientWithResponses(read.BaseURL, leadfile.WithRequestEditorFn(authorize)))
	leads := func(params leadfile.ListLeadsParams) ([]read.Lead, *time.Time) {
		page := read.Must(client.ListLeadsWithResponse(ctx, &params)).JSON200
		var leads []read.Lead
		for _, lead := range page.Data {
			name := ""
			if lead.Name != nil {
				name = *lead.Name
			}
			leads = append(leads, read.Lead{ID: lead.Id.String(), At: lead.IdentifiedAt, Name: name})
		}
		return leads, page.NextCursor
	}
	limit, state, hasEmail, nobodys := 100, "NV", true, "px_none"
	read.Everything(read.Client{
		Page: func(before *time.Time) ([]read.Lead, *time.Time) {
			return leads(leadfile.ListLeadsParams{Limit: &limit, Since: &read.Since, Before: before})
		},
		Filtered: func() []read.Lead {
			filtered, _ := leads(leadfile.ListLeadsParams{State: &state, HasEmail: &hasEmail})
			return filtered
		},
		Pixels: func() (pixels []string) {
			for _, pixel := range read.Must(client.ListPixelsWithResponse(ctx)).JSON200.Data {
				pixels = append(pixels, pixel.Id+" "+pixel.Status)
			}
			return pixels
		},
		Requests: func() int { return read.Must(client.GetUsageWithResponse(ctx)).JSON200.RequestsToday },
		Refused: func() string {
			refused := read.Must(client.ListLeadsWithResponse(ctx, &leadfile.ListLeadsParams{PixelId: &nobodys}))
			return refused.JSON404.Error.Code
		},
	})
}
