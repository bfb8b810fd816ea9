"""Reads with the models that datamodel-code-generator generates, and httpx."""

import sys

import httpx

from models import ErrorResponse, LeadList, PixelList, Usage
from read import read

base_url, key = sys.argv[1:]
client = httpx.Client(base_url=base_url, headers={"Authorization": f"Bearer {key}"})


def get(path, model, **params):
    times = {name: value.isoformat() for name, value in params.items() if name in ("before", "since")}
    return model.model_validate_json(client.get(path, params={**params, **times}).content)


read(
    lambda **params: get("/api/v1/leads", LeadList, **params),
    lambda: get("/api/v1/pixels", PixelList),
    lambda: get("/api/v1/usage", Usage),
    lambda: get("/api/v1/leads", ErrorResponse, pixel_id="px_none").error.code,
)
