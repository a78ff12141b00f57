/** The formula of BM25+, which all searches share. Pure. */

/** How much the frequency of a word counts, how much the length of a document, and the least that a match adds. */
const [k1, b, delta] = [1.2, 0.75, 1];

/** Returns how much a word says that occurs in `containing` of all documents. */
export const getRarity = (documents: number, containing: number): number =>
  Math.log(1 + (documents - containing + 0.5) / (containing + 0.5));

/** Returns how much the length of a document, as a multiple of the average, lowers the frequencies in it. */
export const getNormalization = (relativeLength: number): number => k1 * (1 - b + b * relativeLength);

/** Returns what a word adds to the score of a document, before its rarity. */
export const scoreTerm = (frequency: number, normalization: number): number =>
  (frequency * (k1 + 1)) / (frequency + normalization) + delta;
