// Reads everything with the client that oapi-codegen generates.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"time"
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	ctx := context.Background()
	authorize := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Args[2])
		return nil
	}
	client := must(NewClientWithResponses(os.Args[1], WithRequestEditorFn(authorize)))
	limit, since := 100, time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

	var leads []Lead
	for params := (&ListLeadsParams{Limit: &limit, Since: &since}); ; {
		page := must(client.ListLeadsWithResponse(ctx, params)).JSON200
		leads = append(leads, page.Data...)
		if !page.HasMore {
			break
		}
		params.Before = page.NextCursor
	}
	ids := map[string]bool{}
	for _, lead := range leads {
		ids[lead.Id.String()] = true
	}

	state, hasEmail, nobodys := "NV", true, "px_none"
	names := []string{}
	filtered := must(client.ListLeadsWithResponse(ctx, &ListLeadsParams{State: &state, HasEmail: &hasEmail}))
	for _, lead := range filtered.JSON200.Data {
		names = append(names, *lead.Name)
	}
	pixels := []string{}
	for _, pixel := range must(client.ListPixelsWithResponse(ctx)).JSON200.Data {
		pixels = append(pixels, pixel.Id+" "+pixel.Status)
	}
	usage := must(client.GetUsageWithResponse(ctx)).JSON200
	refused := must(client.ListLeadsWithResponse(ctx, &ListLeadsParams{PixelId: &nobodys}))

	fmt.Println(string(must(json.Marshal(map[string]any{
		"leads":    len(ids),
		"newest":   leads[0].IdentifiedAt.Unix(),
		"names":    names,
		"pixels":   pixels,
		"requests": usage.RequestsToday,
		"code":     refused.JSON404.Error.Code,
	}))))
}
