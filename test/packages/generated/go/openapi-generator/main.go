// Reads with the client that openapi-generator generates.
package main

import (
	"context"
	"errors"
	"time"

	"example.org/reader/leadfile"
	"example.org/reader/read"
)

func main() {
	ctx := context.WithValue(context.Background(), leadfile.ContextAccessToken, read.Key)
	configuration := leadfile.NewConfiguration()
	configuration.Servers = leadfile.ServerConfigurations{{URL: read.BaseURL}}
	client := leadfile.NewAPIClient(configuration)
	leads := func(request leadfile.ApiListLeadsRequest) ([]read.Lead, *time.Time) {
		page, _, err := request.Execute()
		read.Must(page, err)
		var leads []read.Lead
		for _, lead := range page.Data {
			leads = append(leads, read.Lead{ID: lead.Id, At: lead.IdentifiedAt, Name: lead.GetName()})
		}
		return leads, page.NextCursor.Get()
	}
	read.Everything(read.Client{
		Page: func(before *time.Time) ([]read.Lead, *time.Time) {
			request := client.LeadsAPI.ListLeads(ctx).Limit(100).Since(read.Since)
			if before != nil {
				request = request.Before(*before)
			}
			return leads(request)
		},
		Filtered: func() []read.Lead {
			filtered, _ := leads(client.LeadsAPI.ListLeads(ctx).State("NV").HasEmail(true))
			return filtered
		},
		Pixels: func() (pixels []string) {
			list, _, err := client.PixelsAPI.ListPixels(ctx).Execute()
			for _, pixel := range read.Must(list, err).Data {
				pixels = append(pixels, pixel.Id+" "+pixel.Status)
			}
			return pixels
		},
		Requests: func() int {
			usage, _, err := client.UsageAPI.GetUsage(ctx).Execute()
			return int(read.Must(usage, err).RequestsToday)
		},
		Refused: func() string {
			_, _, err := client.LeadsAPI.ListLeads(ctx).PixelId("px_none").Execute()
			var refused *leadfile.GenericOpenAPIError
			errors.As(err, &refused)
			return refused.Model().(leadfile.ErrorResponse).Error.Code
		},
	})
}
