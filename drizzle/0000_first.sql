CREATE TABLE `accounts` (
	`number` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`name` text NOT NULL,
	`active` integer NOT NULL,
	`created_at` integer NOT NULL,
	`retain_days` integer,
	`traces_left` integer DEFAULT 0 NOT NULL
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `accounts_id_unique` ON `accounts` (`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `accounts_name_unique` ON `accounts` (`name`);--> statement-breakpoint
CREATE TABLE `audit` (
	`number` integer PRIMARY KEY NOT NULL,
	`at` integer NOT NULL,
	`act` text NOT NULL,
	`account` text,
	`detail` text NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `disclosures` (
	`key` integer NOT NULL,
	`day` text NOT NULL,
	`filter` text NOT NULL,
	`oldest` integer NOT NULL,
	`newest` integer NOT NULL,
	PRIMARY KEY(`key`, `day`, `filter`, `oldest`),
	FOREIGN KEY (`key`) REFERENCES `keys`(`number`) ON UPDATE no action ON DELETE no action
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `flushes` (
	`node` text PRIMARY KEY NOT NULL,
	`process` text NOT NULL,
	`sequence` integer NOT NULL,
	`minute` integer DEFAULT 0 NOT NULL,
	`keys` text DEFAULT '[]' NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `imports` (
	`number` integer PRIMARY KEY NOT NULL,
	`account` integer NOT NULL,
	`at` integer NOT NULL,
	`finished_at` integer,
	`file` text NOT NULL,
	`by` text NOT NULL,
	`rejects_file` text,
	`read` integer NOT NULL,
	`imported` integer NOT NULL,
	`duplicates` integer NOT NULL,
	`replaced` integer NOT NULL,
	`overwritten` integer DEFAULT 0 NOT NULL,
	`moved` integer NOT NULL,
	`late` integer NOT NULL,
	`suppressed` integer NOT NULL,
	`rejected` integer NOT NULL,
	`oldest` integer,
	`newest` integer,
	`undone_at` integer,
	FOREIGN KEY (`account`) REFERENCES `accounts`(`number`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE INDEX `imports_by_account` ON `imports` (`account`);--> statement-breakpoint
CREATE TABLE `instances` (
	`number` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`secret` blob NOT NULL
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `instances_id_unique` ON `instances` (`id`);--> statement-breakpoint
CREATE TABLE `keys` (
	`number` integer PRIMARY KEY NOT NULL,
	`account` integer NOT NULL,
	`id` text NOT NULL,
	`digest` blob NOT NULL,
	`prefix` text NOT NULL,
	`label` text,
	`created_at` integer NOT NULL,
	`revoked_at` integer,
	`expires_at` integer,
	FOREIGN KEY (`account`) REFERENCES `accounts`(`number`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `keys_id_unique` ON `keys` (`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `keys_digest_unique` ON `keys` (`digest`);--> statement-breakpoint
CREATE INDEX `keys_by_account` ON `keys` (`account`);--> statement-breakpoint
CREATE TABLE `stored_leads` (
	`number` integer PRIMARY KEY NOT NULL,
	`account` integer NOT NULL,
	`identified_at` integer NOT NULL,
	`uuid` blob NOT NULL,
	`pixel` integer NOT NULL,
	`state` text,
	`city_key` text,
	`has_email` integer NOT NULL,
	`import` integer NOT NULL,
	`doc` text NOT NULL,
	FOREIGN KEY (`account`) REFERENCES `accounts`(`number`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`pixel`) REFERENCES `pixels`(`number`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `leads_by_time` ON `stored_leads` (`account`,`identified_at`);--> statement-breakpoint
CREATE UNIQUE INDEX `leads_by_uuid` ON `stored_leads` (`account`,`uuid`);--> statement-breakpoint
CREATE INDEX `leads_by_email` ON `stored_leads` (`account`,`has_email`,`identified_at`);--> statement-breakpoint
CREATE INDEX `leads_by_pixel` ON `stored_leads` (`account`,`pixel`,`has_email`,`identified_at`);--> statement-breakpoint
CREATE INDEX `leads_by_state` ON `stored_leads` (`account`,`state`,`has_email`,`identified_at`);--> statement-breakpoint
CREATE INDEX `leads_by_city` ON `stored_leads` (`account`,`city_key`,`has_email`,`identified_at`);--> statement-breakpoint
CREATE INDEX `leads_by_pixel_state` ON `stored_leads` (`account`,`pixel`,`state`,`has_email`,`identified_at`);--> statement-breakpoint
CREATE INDEX `leads_by_pixel_city` ON `stored_leads` (`account`,`pixel`,`city_key`,`has_email`,`identified_at`);--> statement-breakpoint
CREATE INDEX `leads_by_state_city` ON `stored_leads` (`account`,`state`,`city_key`,`has_email`,`identified_at`);--> statement-breakpoint
CREATE INDEX `leads_by_pixel_state_city` ON `stored_leads` (`account`,`pixel`,`state`,`city_key`,`has_email`,`identified_at`);--> statement-breakpoint
CREATE TABLE `nodes` (
	`name` text PRIMARY KEY NOT NULL,
	`url` text NOT NULL,
	`version` text NOT NULL,
	`started_at` integer NOT NULL,
	`leaving` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `pixels` (
	`number` integer PRIMARY KEY NOT NULL,
	`account` integer NOT NULL,
	`id` text NOT NULL,
	`status` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`account`) REFERENCES `accounts`(`number`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `pixels_by_id` ON `pixels` (`account`,`id`);--> statement-breakpoint
CREATE TABLE `revision` (
	`number` integer PRIMARY KEY NOT NULL,
	`count` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `scrubs` (
	`node` text PRIMARY KEY NOT NULL,
	`audit` integer NOT NULL,
	`at` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `sources` (
	`number` integer PRIMARY KEY NOT NULL,
	`account` integer NOT NULL,
	`id` text NOT NULL,
	`digest` blob NOT NULL,
	`prefix` text NOT NULL,
	`label` text,
	`options` text NOT NULL,
	`created_at` integer NOT NULL,
	`revoked_at` integer,
	FOREIGN KEY (`account`) REFERENCES `accounts`(`number`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `sources_id_unique` ON `sources` (`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `sources_digest_unique` ON `sources` (`digest`);--> statement-breakpoint
CREATE INDEX `sources_by_account` ON `sources` (`account`);--> statement-breakpoint
CREATE TABLE `suppressed_digests` (
	`account` integer NOT NULL,
	`digest` blob NOT NULL,
	`erased_at` integer NOT NULL,
	PRIMARY KEY(`account`, `digest`),
	FOREIGN KEY (`account`) REFERENCES `accounts`(`number`) ON UPDATE no action ON DELETE no action
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `suppressions` (
	`account` integer NOT NULL,
	`instance` integer NOT NULL,
	`hash` blob NOT NULL,
	`erased_at` integer NOT NULL,
	PRIMARY KEY(`account`, `instance`, `hash`),
	FOREIGN KEY (`account`) REFERENCES `accounts`(`number`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`instance`) REFERENCES `instances`(`number`) ON UPDATE no action ON DELETE no action
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `usage` (
	`key` integer NOT NULL,
	`day` text NOT NULL,
	`requests` integer NOT NULL,
	PRIMARY KEY(`key`, `day`),
	FOREIGN KEY (`key`) REFERENCES `keys`(`number`) ON UPDATE no action ON DELETE no action
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `writes` (
	`number` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `writes_id_unique` ON `writes` (`id`);--> statement-breakpoint
CREATE VIEW `leads` AS SELECT account, identified_at AS identified_ms, doc ->> '$.id' AS id, doc ->> '$.identified_at' AS identified_at, doc ->> '$.pixel_id' AS pixel_id, doc ->> '$.name' AS name, doc ->> '$.email' AS email, doc ->> '$.verified_email' AS verified_email, doc ->> '$.phone' AS phone, doc ->> '$.company' AS company, doc ->> '$.city' AS city, state, doc ->> '$.gender' AS gender, doc ->> '$.age_range' AS age_range, doc ->> '$.income_range' AS income_range, doc ->> '$.net_worth' AS net_worth, doc ->> '$.marital_status' AS marital_status, doc ->> '$.homeowner' AS homeowner, doc ->> '$.children' AS children, doc ->> '$.page_url' AS page_url, doc ->> '$.referrer' AS referrer, doc ->> '$.traffic_source' AS traffic_source FROM stored_leads;