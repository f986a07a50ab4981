"""The libraries a lake needs, each loaded where it is used: they come with extras, and are slow to import."""

from __future__ import annotations

import importlib
import sys
from importlib.abc import MetaPathFinder
from typing import Any

from clew.errors import ClewError


class MissingLibraryError(ClewError):
    """A part of clew that is installed on request is not there."""

    code = "missing-extra"

    def __init__(self, extra: str, library: str) -> None:
        super().__init__(f"this needs {library}, which is not installed", hint=f"pip install 'clew[{extra}]'")
        self.extra = extra


def _loaded(name: str, extra: str = "lake") -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingLibraryError(extra, name.partition(".")[0]) from error


def arrow() -> Any:
    """Return pyarrow."""
    return _loaded("pyarrow")


class _NoPandas(MetaPathFinder):
    """Says that there is no pandas."""

    def find_spec(self, fullname: str, *_: object) -> None:
        """Find nothing, and let nobody else find it."""
        if fullname == "pandas":
            raise ModuleNotFoundError(fullname)


def leave_pandas_out() -> None:
    """Let pyarrow do without pandas in this process, which is ours alone: to load that takes 0.3 seconds.

    It asks once whether pandas is there, for types of it that nobody here has.
    """
    if "pandas" in sys.modules:
        return
    library, hiding = arrow(), _NoPandas()
    sys.meta_path.insert(0, hiding)
    try:
        library.array([0])
    finally:
        sys.meta_path.remove(hiding)


def parquet() -> Any:
    """Return pyarrow's Parquet part."""
    return _loaded("pyarrow.parquet")


def datasets() -> Any:
    """Return pyarrow's part for many files as one table."""
    return _loaded("pyarrow.dataset")


def compute() -> Any:
    """Return pyarrow's functions over columns."""
    return _loaded("pyarrow.compute")


def file_systems() -> Any:
    """Return pyarrow's file systems."""
    return _loaded("pyarrow.fs")


def delta_files() -> Any:
    """Return deltalake's object stores, as pyarrow takes them."""
    return _loaded("deltalake.fs")


def obstore() -> Any:
    """Return obstore: one way to talk to every object store, and to folders."""
    return _loaded("obstore")


def deltalake() -> Any:
    """Return deltalake: Delta tables without any Java."""
    return _loaded("deltalake")


def transactions() -> Any:
    """Return the part of deltalake that commits files somebody else wrote."""
    return _loaded("deltalake.transaction")


def duckdb() -> Any:
    """Return DuckDB."""
    return _loaded("duckdb")


def spark_session() -> Any:
    """Return the client's side of Spark Connect."""
    import warnings

    with warnings.catch_warnings():
        # It says of newer versions of pandas that it does not know them; nothing here goes through pandas.
        warnings.simplefilter("ignore")
        return _loaded("pyspark.sql", "spark").SparkSession


def spark_channels() -> Any:
    """Return what makes of an address a connection to Spark, with its token and its encryption."""
    spark_session()
    return _loaded("pyspark.sql.connect.client", "spark").DefaultChannelBuilder


def grpc() -> Any:
    """Return what Spark Connect speaks by."""
    return _loaded("grpc", "spark")
