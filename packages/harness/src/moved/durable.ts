/** The former place of these names, kept for one version. New code imports them from the packages below. */
export {
  makeDirectory,
  namingFile,
  readWhole,
  syncDirectory,
  withFileLease,
  writeTextFile,
  writeWhole,
} from "@tau/tools/durable";
