// Reads with the client that ogen generates.
package main

import (
	"context"
	"time"

	"example.org/reader/leadfile"
	"example.org/reader/read"
)

type bearer struct{}

func (bearer) ApiKey(context.Context, leadfile.OperationName) (leadfile.ApiKey, error) {
	return leadfile.ApiKey{Token: read.Key}, nil
}

func main() {
	ctx := context.Background()
	client := read.Must(leadfile.NewClient(read.BaseURL, bearer{}))
	leads := func(params leadfile.ListLeadsParams) ([]read.Lead, *time.Time) {
		page := read.Must(client.ListLeads(ctx, params)).(*leadfile.LeadListHeaders).Response
		var leads []read.Lead
		for _, lead := range page.Data {
			at := read.Must(time.Parse(time.RFC3339, lead.IdentifiedAt))
			leads = append(leads, read.Lead{ID: lead.ID.String(), At: at, Name: lead.Name.Or("")})
		}
		if next, isSet := page.NextCursor.Get(); isSet {
			at := read.Must(time.Parse(time.RFC3339, next))
			return leads, &at
		}
		return leads, nil
	}
	read.Everything(read.Client{
		Page: func(before *time.Time) ([]read.Lead, *time.Time) {
			since := read.Since.Format(time.RFC3339)
			params := leadfile.ListLeadsParams{Limit: leadfile.NewOptInt(100), Since: leadfile.NewOptString(since)}
			if before != nil {
				params.Before = leadfile.NewOptString(before.Format(time.RFC3339Nano))
			}
			return leads(params)
		},
		Filtered: func() []read.Lead {
			filtered, _ := leads(leadfile.ListLeadsParams{State: leadfile.NewOptString("NV"), HasEmail: leadfile.NewOptBool(true)})
			return filtered
		},
		Pixels: func() (pixels []string) {
			for _, pixel := range read.Must(client.ListPixels(ctx)).(*leadfile.PixelListHeaders).Response.Data {
				pixels = append(pixels, pixel.ID+" "+pixel.Status)
			}
			return pixels
		},
		Requests: func() int { return read.Must(client.GetUsage(ctx)).(*leadfile.UsageHeaders).Response.RequestsToday },
		Refused: func() string {
			refused := read.Must(client.ListLeads(ctx, leadfile.ListLeadsParams{PixelID: leadfile.NewOptString("px_none")}))
			return refused.(*leadfile.ListLeadsNotFound).Response.Error.Code
		},
	})
}
