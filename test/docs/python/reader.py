"""A program that a developer would write with the generated package: it walks all leads of a state."""

import json
import sys

from leadfile_client import AuthenticatedClient
from leadfile_client.api.leads import list_leads
from leadfile_client.api.pixels import list_pixels
from leadfile_client.api.usage import get_usage
from leadfile_client.models import Error, LeadList
from leadfile_client.types import UNSET

base_url, key = sys.argv[1:]
client = AuthenticatedClient(base_url=base_url, token=key)

names = []
before = UNSET
while True:
    page = list_leads.sync(client=client, limit=2, state="CA", has_email=True, before=before)
    assert isinstance(page, LeadList), page
    names += [lead.name.upper() for lead in page.data]
    if not page.has_more:
        break
    before = page.next_cursor

pixels = list_pixels.sync(client=client)
usage = get_usage.sync(client=client)
refused = list_leads.sync_detailed(client=client, limit=101)
assert isinstance(refused.parsed, Error)

print(json.dumps({
    "names": names,
    "pixels": [f"{pixel.id} {pixel.status}" for pixel in pixels.data],
    "requests": usage.requests_today,
    "code": refused.parsed.error.code,
}))
