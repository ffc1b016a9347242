"""Connects to a new database in memory that has the extension."""

import os

import duckdb


def connect(**config):
    connection = duckdb.connect(config={"allow_unsigned_extensions": "true", **config})
    connection.execute(f"LOAD '{os.environ['UNIQURL_DUCKDB']}'")
    return connection
