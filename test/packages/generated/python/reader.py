"""Reads everything with the package that openapi-python-client generates."""

import datetime
import json
import sys

from leadfile_client import AuthenticatedClient
from leadfile_client.api.leads import list_leads
from leadfile_client.api.pixels import list_pixels
from leadfile_client.api.usage import get_usage
from leadfile_client.models import ErrorResponse, LeadList
from leadfile_client.types import UNSET

base_url, key = sys.argv[1:]
client = AuthenticatedClient(base_url=base_url, token=key)
since = datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc)

leads = []
before = UNSET
while True:
    page = list_leads.sync(client=client, limit=100, since=since, before=before)
    assert isinstance(page, LeadList), page
    leads += page.data
    if not page.has_more:
        break
    before = page.next_cursor

filtered = list_leads.sync(client=client, state="NV", has_email=True)
pixels = list_pixels.sync(client=client)
usage = get_usage.sync(client=client)
refused = list_leads.sync(client=client, pixel_id="px_none")
assert isinstance(refused, ErrorResponse), refused

print(json.dumps({
    "leads": len({str(lead.id) for lead in leads}),
    "newest": int(leads[0].identified_at.timestamp()),
    "names": [lead.name for lead in filtered.data],
    "pixels": [f"{pixel.id} {pixel.status}" for pixel in pixels.data],
    "requests": usage.requests_today,
    "code": refused.error.code,
}))
