"""Machine code in memory: object files that are linked into this process."""

from collections.abc import Mapping, Sequence

import llvmlite.binding as llvm

from plumbline.archives.reference_archive import Tensor
from plumbline.errors import UserError
from plumbline.library.native_function import NativeFunction
from plumbline.library.packed_entry import PackedEntry
from plumbline.runtime import openmp
from plumbline.signature.function_name import PACKED_SUFFIX
from plumbline.signature.signature import Signature


class LinkedCode:
    """A function of an object file, which can be called for as long as this lives."""

    def __init__(
        self,
        object_file: bytes,
        name: str,
        data: Mapping[str, Tensor] | None = None,
        symbols: Mapping[str, int] | None = None,
        *,
        others: Sequence[bytes] = (),
    ) -> None:
        """Links `object_file` against this process, which has the C library and libm.

        `data` has the elements of the symbols that it leaves open; they stay where they are in
        memory, and must not change. `symbols` has the addresses of others, and the object files
        `others` have functions that it calls.

        Raises:
          UserError: the code calls functions that this process does not have.
        """
        self.data = dict(data or {})
        """The elements of symbols that it leaves open."""
        object_files = [object_file, *others]
        self.code_bytes = sum(map(len, object_files))
        self.data_bytes = sum(array.nbytes for array in self.data.values())
        self.address: int
        """Where the function lies."""
        # What makes code has done so, where some has been made in this process.
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        # LLVM's older linker maps each section where there is room, and ends the process where one
        # lies too far from another, as in a process with gigabytes of weights.
        self._jit = llvm.create_lljit_compiler(use_jit_link=True)
        library = llvm.JITLibraryBuilder().add_current_process().export_symbol(name)
        for each in object_files:
            library.add_object_img(each)
        for symbol, array in self.data.items():
            library.import_symbol(symbol, array.ctypes.data)
        for symbol, address in (symbols or {}).items():
            library.import_symbol(symbol, address)
        if any(openmp.PARALLEL.encode() in each for each in object_files):
            program = name.removesuffix(PACKED_SUFFIX)
            for symbol, address in openmp.addresses(program).items():
                library.import_symbol(symbol, address)
        try:
            self._library = library.link(self._jit, name)
        except RuntimeError as error:
            # LLVM tells on standard error which they are.
            raise UserError(
                f"{name}: its machine code calls functions that this process does not "
                "have. Without F16C (the target_cpu x86-64 and x86-64-v2), float16 needs those of "
                "the C compiler's library, which C and C++ programs have: choose another target_cpu"
            ) from error
        self.address = self._library[name]


def linked_function(object_file: bytes, signature: Signature) -> NativeFunction:
    """A program of an object file that leaves no weights open.

    Raises:
      UserError: as `LinkedCode` does.
    """
    code = LinkedCode(object_file, signature.name + PACKED_SUFFIX)
    return NativeFunction(signature, PackedEntry(signature, code.address), code)
