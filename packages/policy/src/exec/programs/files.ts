/** Files, directories and disks. */
import type { Programs } from "./program.ts";

export const files: Programs = {
  rm: {
    is: ["namesFiles", "readsNothing"],
    options:
      "rRfidvIPWx recursive force interactive=? dir verbose one-file-system no-preserve-root preserve-root=? help version",
    rules: ["remove"],
  },
  "grm unlink": { like: "rm" },
  "rimraf srm trash trash-put del-cli wipe": { rules: ["removeAll"] },
  mv: {
    is: ["namesFiles", "otherO"],
    options:
      "finuvbS:t:TZ force interactive no-clobber update=? verbose backup=? suffix= target-directory= no-target-directory strip-trailing-slashes",
    rules: ["move"],
  },
  gmv: { like: "mv" },
  shred: {
    is: ["namesFiles"],
    options: "n:s:fuvxz force iterations= random-source= size= remove=? verbose exact zero",
    rules: ["shred"],
  },
  gshred: { like: "shred" },
  rsync: {
    is: ["namesFiles", "otherO"],
    options:
      "e:f:T:B:M:@:avzhnruqtloxpgDAXHSWPRLkKcbdiIyC rsh= delete delete-before delete-during delete-delay delete-after delete-excluded remove-source-files dry-run exclude= include= exclude-from= include-from= files-from= filter= log-file= temp-dir= partial-dir= rsync-path= port= bwlimit= timeout= chmod= chown= link-dest= backup-dir= compare-dest= info= archive recursive verbose compress progress partial stats checksum update human-readable quiet",
    readsBelow: "sources",
    rules: ["rsync", "copyRemote"],
  },
  rmdir: { is: ["namesFiles", "readsNothing", "harmful"], prints: "nothing" },

  // Disks.
  "dd gdd dcfldd dc3dd": { rules: ["dd"] },
  ddrescue: { rules: ["dd"], writesOperand: { index: 1, min: 2 } },
  "wipefs blkdiscard badblocks": { rules: ["erase"] },
  "mkfs mke2fs mkswap mkdosfs mkntfs newfs newfs_apfs cfdisk sfdisk mkfs.ext2 mkfs.ext3 mkfs.ext4 mkfs.xfs mkfs.btrfs mkfs.vfat mkfs.fat mkfs.ntfs mkfs.f2fs mkfs.minix mkfs.exfat mkfs.jfs mkfs.reiserfs mkfs.msdos mkfs.cramfs mkfs.bfs mkfs.erofs mkfs.zfs tune2fs resize2fs e2fsck fsck":
    { rules: ["format"] },
  "scrub nwipe": { rules: ["erase"] },
  "fdisk gdisk sgdisk parted pvremove vgremove lvremove pvcreate vgcreate lvcreate lvreduce mdadm partx": {
    is: ["harmful"],
    does: "critical disk_wipe",
    says: "$n changes disks or volumes.",
    min: 1,
    unless:
      /^(?:-l|-p|--list|--print|print|-x|--dump|-d|status|luksDump|isLuks|-i|-I|list|smart-log|id-ctrl|show|display|info|get|-n|--no-act|--show.*)$/,
    as: "device_write",
  },
  "cryptsetup zfs zpool btrfs diskutil nvme hdparm dmsetup": {
    is: ["harmful"],
    does: "critical disk_wipe",
    says: "$n destroys what is on a disk.",
    arg: /^(?:destroy|delete|erase\w*|secureErase|partitionDisk|reformat|zeroDisk|randomDisk|format|sanitize|write-zeroes|luksFormat|luksErase|erase|reencrypt|resize|labelclear|remove|remove_all|create|--security-erase\S*|--trim-sector-ranges|--write-sector|--zero-superblock|subvolume)$/,
  },

  // Copies, links and rights.
  ditto: {
    options:
      "abdfiHlLnpPrRsS:t:TuvxXZc archive attributes-only backup=? force interactive link dereference no-clobber no-dereference parents preserve=? no-preserve= recursive reflink=? remove-destination sparse= strip-trailing-slashes symbolic-link suffix= target-directory= no-target-directory update=? verbose one-file-system context=?",
    rules: ["copy"],
  },
  cp: { like: "ditto", is: ["namesFiles", "otherO"], readsBelow: "sources" },
  gcp: { like: "cp" },
  ln: {
    is: ["namesFiles"],
    options:
      "bdfFiLnPrsTvt:S: backup=? force interactive logical no-dereference physical relative symbolic no-target-directory verbose target-directory= suffix=",
    rules: ["link"],
  },
  "gln link": { like: "ln" },
  stow: {
    options: "d:t:SDRnv dir= target= stow delete restow adopt no simulate verbose=? ignore= defer= override= dotfiles",
    rules: ["stow"],
  },
  mkdir: { is: ["namesFiles", "readsNothing"], rules: ["mkdir"] },
  touch: { is: ["namesFiles", "readsNothing"], rules: ["writeOperands"] },
  "truncate fallocate rename prename": { like: "touch" },
  tee: { is: ["namesFiles", "showsText"], rules: ["tee"] },
  "gtee sponge": { like: "tee" },

  // What they print about files.
  ls: { is: ["namesFiles", "readsNothing", "otherO", "showsText"], prints: "list" },
  "dir vdir": { prints: "list" },
  "realpath readlink": { is: ["namesFiles", "readsNothing"], prints: "realPath" },
  basename: { is: ["namesFiles", "readsNothing"], prints: "basename" },
  dirname: { is: ["namesFiles", "readsNothing"], prints: "dirname" },
  which: { is: ["namesFiles", "readsNothing"], prints: "which" },
  whereis: { prints: "which" },
  "stat du": { is: ["namesFiles", "readsNothing"], prints: "value" },
  df: { is: ["namesFiles", "otherO"], prints: "value" },
  mktemp: { prints: "mktemp" },
  pwd: { prints: "pwd" },
  "cksum sum": { prints: "value" },
  "test [": { is: ["namesFiles", "readsNothing", "otherO", "showsText"] },
  "[[ read compgen complete": { is: ["otherO"] },
  cd: { is: ["namesFiles", "readsNothing"] },
  file: { is: ["namesFiles", "readsDisks"] },
  "lsblk findmnt": { is: ["otherO", "readsDisks"] },
  "blkid smartctl udevadm fstyp blockdev sg_inq strings": { is: ["readsDisks"] },
};
