"""Find what compiles Stan programs: stanc and Stan's headers in the package httpstan, and a compiler."""

import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

WORD = "interop.stan.target"


@dataclass(frozen=True)
class Toolchain:
    """The programs and files by which Stan programs are compiled.

    **Fields**: `folder` of httpstan, and its `version`; `compiler`, the path of g++, and `compiler_version`.
    """

    folder: Path
    version: str
    compiler: str
    compiler_version: str

    @staticmethod
    def find() -> "Toolchain":
        """Find both. Raises `ImportError` that says what to install."""
        folder, version = _httpstan()
        compiler = shutil.which(os.environ.get("CXX", "g++"))
        if compiler is None:
            name = os.environ.get("CXX", "g++")
            raise ImportError(
                f"{WORD}: the compiler {name!r} is not found. Install g++, on Debian and Ubuntu by `apt install g++`, "
                "or name another in the environment variable CXX."
            )
        said = subprocess.run([compiler, "-dumpfullversion"], capture_output=True, text=True, check=False)
        return Toolchain(folder, version, compiler, said.stdout.strip())

    @property
    def stanc(self) -> Path:
        """The translator from Stan to C++."""
        return self.folder / "stanc"

    @property
    def include(self) -> Path:
        """The headers of Stan, and of the libraries that it needs."""
        return self.folder / "include"

    @property
    def libraries(self) -> Path:
        """The folder of TBB and Sundials."""
        return self.folder / "lib"


def _httpstan() -> tuple[Path, str]:
    """Return folder and version of httpstan, which is not imported: it is a server, and its files are all we need."""
    found = importlib.util.find_spec("httpstan")
    if found is None or not found.submodule_search_locations:
        raise ImportError(
            f"{WORD} needs Stan's translator and headers. Install them with: pip install httpstan"
        )
    return Path(found.submodule_search_locations[0]), importlib.metadata.version("httpstan")
