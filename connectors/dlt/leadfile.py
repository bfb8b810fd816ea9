"""A dlt source for Leadfile: every lead once, and the pixels, in any destination of dlt.

    pip install "dlt[duckdb]==1.31.0"
    export SOURCES__LEADFILE__BASE_URL=https://www.example.com SOURCES__LEADFILE__KEY=lf_...
    python leadfile.py
"""

import dlt
from dlt.sources.rest_api import rest_api_resources

FIELDS = (
    "name email verified_email phone company city state gender age_range income_range net_worth "
    "marital_status homeowner children page_url referrer traffic_source"
).split()


@dlt.source(name="leadfile")
def leadfile(
    base_url: str = dlt.config.value,
    key: str = dlt.secrets.value,
    since: str = "1900-01-01T00:00:00Z",
    overlap: int = 3600,
):
    """`since` is where the first run begins; `overlap` are the seconds to look back for leads that came late."""
    return rest_api_resources(
        {
            "client": {
                "base_url": f"{base_url.rstrip('/')}/api/v1/",
                "auth": {"type": "bearer", "token": key},
            },
            "resources": [
                {
                    "name": "leads",
                    "primary_key": "id",
                    "write_disposition": "merge",
                    # A column that is empty so far is there all the same.
                    "columns": {field: {"data_type": "text"} for field in ["id", "pixel_id", *FIELDS]},
                    "endpoint": {
                        "path": "leads",
                        "data_selector": "data",
                        "params": {"limit": 100, "since": "{incremental.start_value}"},
                        # Pages come newest first: `before` walks back to `since`.
                        "paginator": {"type": "cursor", "cursor_path": "next_cursor", "cursor_param": "before"},
                        "incremental": {
                            "cursor_path": "identified_at",
                            "initial_value": since,
                            "lag": overlap,
                        },
                    },
                },
                {
                    "name": "pixels",
                    "primary_key": "id",
                    "write_disposition": "merge",
                    "endpoint": {"path": "pixels", "data_selector": "data", "paginator": "single_page"},
                },
            ],
        }
    )


if __name__ == "__main__":
    pipeline = dlt.pipeline("leadfile", destination="duckdb", dataset_name="visitors")
    if pipeline.has_pending_data:
        pipeline.run()  # What a run that was cut off had fetched; new leads would be passed over with it.
    # DuckDB takes gigabytes of memory for the INSERTs of 20,000 leads. Leave the format out where a destination refuses it.
    print(pipeline.run(leadfile(), loader_file_format="jsonl"))
