"""A dlt source for Leadfile: loads every lead once, and the pixels, into any destination of dlt.

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
    """`since` is the time at which the first run begins; `overlap` is how many seconds to look back for late leads."""
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
                    # Creates a column even if every lead so far has no value for it.
                    "columns": {field: {"data_type": "text"} for field in ["id", "pixel_id", *FIELDS]},
                    "endpoint": {
                        "path": "leads",
                        "data_selector": "data",
                        "params": {"limit": 100, "since": "{incremental.start_value}"},
                        # Pages list the newest lead first, so `before` pages back to `since`.
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
        pipeline.run()  # Loads what an interrupted run extracted. Together with new leads, it would be skipped.
    # DuckDB needs gigabytes of memory for the INSERTs of 20,000 leads. Omit the format if a destination refuses it.
    print(pipeline.run(leadfile(), loader_file_format="jsonl"))
