/** The port of the admin command: accounts, keys, leads and the rest, and figures of what has come. */
import type { RecipientRepository } from "./disclosures.ts";
import type { AuditRepository, PeopleRepository, RetentionRepository } from "./privacy.ts";
import type { AccountNumber } from "./reading.ts";
import type {
  AccountRepository,
  ImportRepository,
  KeyRepository,
  LeadRepository,
  PixelRepository,
} from "./repositories.ts";
import type { SourceRepository } from "./sources.ts";

/** All that the admin command needs. Whatever a method has returned is on the disk. */
export interface AdminStore {
  readonly accounts: AccountRepository;
  readonly pixels: PixelRepository;
  readonly keys: KeyRepository;
  readonly leads: LeadRepository;
  readonly imports: ImportRepository;
  /** What came to an account since a moment, the start of a UTC day. */
  stats(account: AccountNumber, sinceMs: number): Stats;
  readonly people: PeopleRepository;
  readonly recipients: RecipientRepository;
  readonly retention: RetentionRepository;
  readonly audit: AuditRepository;
  readonly sources: SourceRepository;
  close(): void;
}

/** How many of something have a value; null where they have none. */
export interface Share {
  readonly name: string | null;
  readonly count: number;
}

export interface Stats {
  /** Leads of all time. */
  readonly total: number;
  /** Days with leads, oldest first. */
  readonly byDay: readonly Share[];
  /** Largest first, like the two below. */
  readonly byPixel: readonly Share[];
  readonly byState: readonly Share[];
  readonly bySource: readonly Share[];
  /** Sources are counted of so many leads at most, the newest. */
  readonly sourcesRead: number;
  readonly requests: readonly {
    readonly key: string;
    readonly prefix: string;
    readonly label: string | null;
    readonly day: string;
    readonly requests: number;
  }[];
  /** The imports that began since then, oldest first. */
  readonly imports: readonly {
    readonly number: number;
    readonly atMs: number;
    readonly imported: number;
    readonly late: number;
  }[];
}
