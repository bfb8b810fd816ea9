/** The port of the admin command: accounts, keys, leads and all else, and statistics. */

import type { SourceRepository } from "../../extensions/delivery/source-types.ts";
import type { LeadDatabase } from "../db/connection.ts";
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

/** What a method has written is on the disk when it returns. */
export interface AdminStore {
  /** The database itself. Commands use it directly; the repositories below go one by one. */
  readonly database: LeadDatabase;
  readonly accounts: AccountRepository;
  readonly pixels: PixelRepository;
  readonly keys: KeyRepository;
  readonly leads: LeadRepository;
  readonly imports: ImportRepository;
  /** Statistics of an account since the start of a UTC day. */
  stats(account: AccountNumber, sinceMs: number): Stats;
  readonly people: PeopleRepository;
  readonly recipients: RecipientRepository;
  readonly retention: RetentionRepository;
  readonly audit: AuditRepository;
  readonly sources: SourceRepository;
  close(): void;
}

/** How many leads have a value. The name is null for leads without one. */
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
  readonly requests: readonly {
    readonly key: string;
    readonly prefix: string;
    readonly label: string | null;
    readonly day: string;
    readonly requests: number;
  }[];
  /** The imports that began since then and were not taken back, oldest first. */
  readonly imports: readonly {
    readonly number: number;
    readonly atMs: number;
    readonly imported: number;
    readonly late: number;
  }[];
}
