/** The repositories of the commands that do not use the database itself yet. */
import type { SourceRepository } from "../../extensions/delivery/source-types.ts";
import type { LeadDatabase } from "../db/connection.ts";
import type { PixelReader } from "../db/serving.ts";
import type { RecipientRepository } from "./disclosures.ts";
import type { PeopleRepository, RetentionRepository } from "./privacy.ts";
import type { ImportRepository, LeadRepository } from "./repositories.ts";

/** What a method has written is on the disk when it returns. */
export interface AdminStore {
  /** The database itself. Commands use it directly; the repositories below go one by one. */
  readonly database: LeadDatabase;
  readonly pixels: PixelReader;
  readonly leads: LeadRepository;
  readonly imports: ImportRepository;
  readonly people: PeopleRepository;
  readonly recipients: RecipientRepository;
  readonly retention: RetentionRepository;
  readonly sources: SourceRepository;
  close(): void;
}
