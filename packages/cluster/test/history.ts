/** Checks what must be true of the log of a session, whatever happened to the servers and the nodes while it was written. */

/** A message of the log's subject, in the order of the stream. */
export interface HistoryMessage {
  seq: number;
  epoch: number;
  /** Empty, unless it is the first that its writer wrote. */
  node: string;
}

/** An entry that a node was told to be stored. */
export interface AckedEntry {
  text: string;
  node: string;
}

export interface History {
  messages: readonly HistoryMessage[];
  /** The lines of the log. */
  lines: readonly string[];
  /** In the order in which each node was told. */
  acked: readonly AckedEntry[];
}

/** Sentences about what is wrong; none if nothing is. */
export function checkHistory({ messages, lines, acked }: History): string[] {
  const problems: string[] = [];
  const owners = new Map<number, string>();
  let lastEpoch = 0;
  for (const { seq, epoch, node } of messages) {
    const owner = owners.get(epoch);
    if (node !== "") {
      if (owner !== undefined) problems.push(`Epoch ${epoch} has two owners: ${owner} and ${node}.`);
      owners.set(epoch, node);
    } else if (owner === undefined) problems.push(`Message ${seq} of epoch ${epoch} has no owner.`);
    if (epoch < lastEpoch) problems.push(`Message ${seq} of epoch ${epoch} came after one of ${lastEpoch}.`);
    lastEpoch = Math.max(lastEpoch, epoch);
  }
  const places = new Map<string, number>();
  for (const [index, line] of lines.entries()) {
    if (places.has(line)) problems.push(`The entry ${line} is there twice.`);
    places.set(line, index);
  }
  const lastOfNode = new Map<string, number>();
  for (const { text, node } of acked) {
    const place = places.get(text);
    if (place === undefined) problems.push(`The entry ${text} was acknowledged and is lost.`);
    else if (place < (lastOfNode.get(node) ?? -1)) problems.push(`The entry ${text} is in another order.`);
    lastOfNode.set(node, Math.max(place ?? -1, lastOfNode.get(node) ?? -1));
  }
  return problems;
}
