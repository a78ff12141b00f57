/** Programs that pack and unpack files. */
import type { Programs } from "./program.ts";

export const archives: Programs = {
  tar: {
    is: ["namesFiles", "otherO"],
    options:
      "b:C:f:F:g:H:I:K:L:N:T:V:X:AacdhijJkmnoOpPrRsStuUvwWxzZBGMl checkpoint-action= checkpoint=? to-command= use-compress-program= rsh-command= rmt-command= info-script= new-volume-script= directory= file= exclude= exclude-from= files-from= transform= xform= strip-components= owner= group= mode= newer= remove-files create extract get list append update gzip bzip2 xz zstd lzma verbose keep-old-files overwrite preserve-permissions same-owner no-same-owner sort= mtime= warning= wildcards one-top-level=? totals auto-compress exclude-vcs format= null occurrence=? label= absolute-names dereference unlink-first recursive-unlink",
    readsBelow: "archive",
    rules: ["tar"],
  },
  "gtar bsdtar": { like: "tar", is: ["otherO"] },
  zip: { prints: "pack", readsBelow: "archive", rules: ["zip"], writesOperand: { index: 0, min: 1 } },
  unzip: { is: ["otherO"], rules: ["extract"] },
  "7z 7za": { is: ["otherO"], rules: ["extract"], writesOperand: { index: 1, min: 2 } },
  "7zr": { rules: ["extract"], writesOperand: { index: 1, min: 2 } },
  "7zz": { rules: ["extract"] },
  "rar ar": { writesOperand: { index: 1, min: 2 } },
  "mksquashfs genisoimage": { writesOperand: { index: 0, min: 1 } },
  "qemu-img": { writesOperand: { index: -1, min: 3 } },
  bsdcpio: {
    options:
      "C:D:E:F:H:I:M:O:R:iopdmuvat0L directory= extract create pass-through make-directories file= format= no-absolute-filenames rsh-command=",
    rules: ["cpio"],
  },
  cpio: { like: "bsdcpio", runs: "rsh-command", writes: "O" },
  patch: {
    is: ["otherO"],
    options:
      "p:d:i:o:r:B:D:F:V:z:Y:g:bcefElnNRstTuvZ strip= directory= input= output= reject-file= dry-run forward reverse",
    rules: ["patch"],
  },
  "gzip bzip2 xz": { is: ["compressor"], prints: "pack", writesOperand: { index: -1, min: 1 } },
  "gunzip bunzip2 unxz": { is: ["compressor"], writesOperand: { index: -1, min: 1 } },
  "zstd lz4": { is: ["compressor"], prints: "pack" },
  "zcat lbzip2 pbzip2 pxz pixz unzstd zstdmt pzstd unlz4 lzop lzip plzip pigz unpigz lzma unlzma brotli lrzip compress uncompress":
    { is: ["compressor"] },
};
