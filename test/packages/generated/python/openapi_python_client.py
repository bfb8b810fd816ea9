"""Reads with the package that openapi-python-client generates."""

import functools
import sys

from leadfile_client import AuthenticatedClient
from leadfile_client.api.leads import list_leads
from leadfile_client.api.pixels import list_pixels
from leadfile_client.api.usage import get_usage
from read import read

base_url, key = sys.argv[1:]
client = AuthenticatedClient(base_url=base_url, token=key)

read(
    functools.partial(list_leads.sync, client=client),
    functools.partial(list_pixels.sync, client=client),
    functools.partial(get_usage.sync, client=client),
    lambda: list_leads.sync(client=client, pixel_id="px_none").error.code,
)
