"""Reads with the package that openapi-generator generates."""

import sys

import leadfile_client
from leadfile_client.exceptions import NotFoundException
from read import read

base_url, key = sys.argv[1:]
client = leadfile_client.ApiClient(leadfile_client.Configuration(host=base_url, access_token=key))
leads = leadfile_client.LeadsApi(client)


def refused():
    try:
        leads.list_leads(pixel_id="px_none")
    except NotFoundException as error:
        return error.data.error.code


read(
    leads.list_leads,
    leadfile_client.PixelsApi(client).list_pixels,
    leadfile_client.UsageApi(client).get_usage,
    refused,
)
