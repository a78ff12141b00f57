/**
 * The requests of one client. So many are answered at a time, and none is begun while the client does not read what it was
 * answered: it would have to be kept here. Those that wait stay in the connection.
 */
interface RequestQueueOptions<Request> {
  maxRunning: number;
  /** The limit for requests that only read: all of their answers may be large. */
  maxReading: number;
  isReading: (request: Request) => boolean;
  /** Whether the client has too much to read. Call `advance` when it has read it. */
  isFull: () => boolean;
  /** Never rejects. */
  run: (request: Request) => Promise<void>;
  /** Whether the connection is to be read. */
  setPaused: (isPaused: boolean) => void;
}

export class RequestQueue<Request> {
  readonly #options: RequestQueueOptions<Request>;
  /** Requests that were read together with the last one that was begun. */
  readonly #waiting: Request[] = [];
  #running = 0;
  #reading = 0;
  #isPaused = false;
  #isScheduled = false;

  constructor(options: RequestQueueOptions<Request>) {
    this.#options = options;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  add(request: Request): void {
    this.#waiting.push(request);
    this.advance();
  }

  /** Begins one request, and the next when others had their turn: by then it is known how much the answer added. */
  advance(): void {
    if (!this.#isScheduled && this.#mayBegin()) {
      void this.#run(this.#waiting.shift()!);
      this.#isScheduled = true;
      setImmediate(() => {
        this.#isScheduled = false;
        this.advance();
      });
    }
    const isPaused = this.#waiting.length > 0 || this.#options.isFull();
    if (isPaused === this.#isPaused) return;
    this.#isPaused = isPaused;
    this.#options.setPaused(isPaused);
  }

  #mayBegin(): boolean {
    const { maxRunning, maxReading, isReading, isFull } = this.#options;
    const [next] = this.#waiting;
    if (next === undefined || this.#running >= maxRunning || isFull()) return false;
    return this.#reading < maxReading || !isReading(next);
  }

  async #run(request: Request): Promise<void> {
    const reads = this.#options.isReading(request) ? 1 : 0;
    this.#running++;
    this.#reading += reads;
    try {
      await this.#options.run(request);
    } finally {
      this.#running--;
      this.#reading -= reads;
      this.advance();
    }
  }
}
