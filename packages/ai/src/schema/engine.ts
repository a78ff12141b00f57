/** The JSON Schema engine. `#schema-engine` names it, so that under Node it can be loaded when it is first needed. */
export { Check, Compile } from "typebox/schema";
