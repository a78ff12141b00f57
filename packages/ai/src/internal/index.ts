/** What the packages of tau share and users do not need. It may change in any version. */
export { thinkingLevels } from "../thinking.ts";
