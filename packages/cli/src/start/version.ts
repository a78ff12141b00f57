/** A test compares it with package.json: reading that file at every start would take longer. */
export const version = "0.1.0";
