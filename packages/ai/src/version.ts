/** A constant, because reading package.json at every start costs time. A test checks that the two are equal. */
export const version = "0.1.0";
