/** The repositories of the commands that do not use the database itself yet. */
import type { LeadDatabase } from "../db/connection.ts";
import type { PixelReader } from "../db/serving.ts";
import type { SourceRepository } from "../db/sources.ts";
import type { Passed, Reached, ReadPosition } from "../privacy/disclosures/passed.ts";
import type { ImportRepository, LeadRepository } from "./repositories.ts";

/** What a method has written is on the disk when it returns. */
export interface AdminStore {
  /** The database itself. Commands use it directly; the repositories below go one by one. */
  readonly database: LeadDatabase;
  readonly pixels: PixelReader;
  readonly leads: LeadRepository;
  readonly imports: ImportRepository;
  readonly recipients: {
    /** How far each live key of an account has read. */
    positions(account: number, nowMs: number): readonly ReadPosition[];
    /** What clients have passed of an import that is written. */
    passed(account: number, batch: number, reached: readonly Reached[]): readonly Passed[];
  };
  readonly sources: SourceRepository;
  close(): void;
}
