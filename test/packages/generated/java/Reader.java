import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.example.leadfile.ApiClient;
import org.example.leadfile.ApiException;
import org.example.leadfile.api.LeadsApi;
import org.example.leadfile.api.PixelsApi;
import org.example.leadfile.api.UsageApi;
import org.example.leadfile.model.ErrorResponse;
import org.example.leadfile.model.Lead;
import org.example.leadfile.model.LeadList;

/** Reads everything with the package that openapi-generator generates for Java. */
public class Reader {
  public static void main(String[] args) throws Exception {
    ApiClient client = new ApiClient();
    client.updateBaseUri(args[0]);
    client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + args[1]));
    LeadsApi api = new LeadsApi(client);
    OffsetDateTime since = OffsetDateTime.parse("2020-01-01T00:00:00Z");

    List<Lead> leads = new ArrayList<>();
    OffsetDateTime before = null;
    LeadList page;
    do {
      page = api.listLeads(100, before, since, null, null, null, null);
      leads.addAll(page.getData());
      before = page.getNextCursor();
    } while (page.getHasMore());

    LeadList filtered = api.listLeads(null, null, null, null, "NV", null, true);
    var pixels = new PixelsApi(client).listPixels().getData();
    var usage = new UsageApi(client).getUsage();
    Object code = null;
    try {
      api.listLeads(null, null, null, "px_none", null, null, null);
    } catch (ApiException refused) {
      code = ApiClient.createDefaultObjectMapper()
          .readValue(refused.getResponseBody(), ErrorResponse.class).getError().getCode();
    }

    System.out.println(ApiClient.createDefaultObjectMapper().writeValueAsString(Map.of(
        "leads", leads.stream().map(Lead::getId).distinct().count(),
        "newest", leads.get(0).getIdentifiedAt().toEpochSecond(),
        "names", filtered.getData().stream().map(Lead::getName).toList(),
        "pixels", pixels.stream().map(pixel -> pixel.getId() + " " + pixel.getStatus()).toList(),
        "requests", usage.getRequestsToday(),
        "code", String.valueOf(code))));
  }
}
