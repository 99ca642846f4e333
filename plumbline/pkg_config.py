"""The pkg-config file of a library: `pkg-config --cflags --libs folder/foo.pc`."""

from plumbline.library_description import LibraryDescription


def pkg_config(description: LibraryDescription, library: str) -> str:
    """The text for libfoo.a and libfoo.so beside it, where `library` is foo."""
    return (
        "prefix=${pcfiledir}\n"
        "\n"
        f"Name: {library}\n"
        f"Description: {description.origin}, compiled by Plumbline for {description.made_for}\n"
        "Version: 1\n"
        'Cflags: -I"${prefix}"\n'
        f'Libs: -L"${{prefix}}" -l{library}\n'
        f"Libs.private: -lm{'' if description.gpu_arch is None else ' -ldl -lpthread'}\n"
    )
