"""Reads everything with the package that openapi-generator generates for Python."""

import datetime
import json
import sys

import leadfile_client
from leadfile_client.exceptions import NotFoundException

base_url, key = sys.argv[1:]
client = leadfile_client.ApiClient(leadfile_client.Configuration(host=base_url, access_token=key))
api = leadfile_client.LeadsApi(client)
since = datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc)

leads = []
before = None
while True:
    page = api.list_leads(limit=100, since=since, before=before)
    leads += page.data
    if not page.has_more:
        break
    before = page.next_cursor

filtered = api.list_leads(state="NV", has_email=True)
pixels = leadfile_client.PixelsApi(client).list_pixels()
usage = leadfile_client.UsageApi(client).get_usage()
try:
    api.list_leads(pixel_id="px_none")
    code = None
except NotFoundException as refused:
    code = refused.data.error.code

print(json.dumps({
    "leads": len({str(lead.id) for lead in leads}),
    "newest": int(leads[0].identified_at.timestamp()),
    "names": [lead.name for lead in filtered.data],
    "pixels": [f"{pixel.id} {pixel.status}" for pixel in pixels.data],
    "requests": usage.requests_today,
    "code": code,
}))
