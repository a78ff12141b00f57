/** Held against package.json by a test: reading a file at every start would cost more than it is worth. */
export const version = "0.1.0";
