"""Reads everything through a generated client, and prints what it got."""

import datetime
import json


def read(list_leads, list_pixels, get_usage, refused):
    """Takes a function for each operation, and one that returns the code of the error for a pixel that does not exist."""
    since = datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc)
    page = list_leads(limit=100, since=since)
    leads = list(page.data)
    while page.has_more:
        page = list_leads(limit=100, since=since, before=page.next_cursor)
        leads += page.data

    filtered = list_leads(state="NV", has_email=True)
    pixels = list_pixels()
    usage = get_usage()
    print(json.dumps({
        "leads": len({str(lead.id) for lead in leads}),
        "newest": int(leads[0].identified_at.timestamp()),
        "names": [lead.name for lead in filtered.data],
        "pixels": [f"{pixel.id} {pixel.status}" for pixel in pixels.data],
        "requests": usage.requests_today,
        "code": refused(),
    }))
