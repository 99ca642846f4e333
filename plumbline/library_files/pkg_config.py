"""The pkg-config file of a library: `pkg-config --cflags --libs folder/foo.pc`."""

from plumbline.signature.library_description import LibraryDescription


def pkg_config(description: LibraryDescription, library: str, threads: int) -> str:
    """The text for libfoo.a and libfoo.so beside it.

    Args:
      description: of the library.
      library: foo.
      threads: as its kernels were made for.
    """
    # Of the static library: the shared object says itself what it needs.
    private = "-lgomp -lm" if threads > 1 else "-lm"
    if description.gpu_arch is not None:
        private += " -ldl -lpthread"
    return (
        "prefix=${pcfiledir}\n"
        "\n"
        f"Name: {library}\n"
        f"Description: {description.origin}, compiled by Plumbline for {description.made_for}\n"
        "Version: 1\n"
        # pcfiledir has a backslash before each space: quotes around it would make two of that.
        "Cflags: -I${prefix}\n"
        f"Libs: -L${{prefix}} -l{library}\n"
        f"Libs.private: {private}\n"
    )
