CREATE TABLE `accounts` (
	`number` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`name` text NOT NULL,
	`active` integer NOT NULL,
	`created_at` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `accounts_id_unique` ON `accounts` (`id`);
--> statement-breakpoint
CREATE UNIQUE INDEX `accounts_name_unique` ON `accounts` (`name`);
--> statement-breakpoint
CREATE TABLE `keys` (
	`number` integer PRIMARY KEY NOT NULL,
	`account` integer NOT NULL,
	`id` text NOT NULL,
	`digest` blob NOT NULL,
	`prefix` text NOT NULL,
	`label` text,
	`created_at` integer NOT NULL,
	`revoked_at` integer,
	FOREIGN KEY (`account`) REFERENCES `accounts`(`number`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `keys_id_unique` ON `keys` (`id`);
--> statement-breakpoint
CREATE UNIQUE INDEX `keys_digest_unique` ON `keys` (`digest`);
--> statement-breakpoint
CREATE INDEX `keys_by_account` ON `keys` (`account`);
--> statement-breakpoint
CREATE TABLE `stored_leads` (
	`account` integer NOT NULL,
	`identified_at` integer NOT NULL,
	`uuid` blob NOT NULL,
	`pixel` integer NOT NULL,
	`state` text,
	`city_key` text,
	`has_email` integer NOT NULL,
	`doc` text NOT NULL,
	PRIMARY KEY(`account`, `identified_at`),
	FOREIGN KEY (`account`) REFERENCES `accounts`(`number`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`pixel`) REFERENCES `pixels`(`number`) ON UPDATE no action ON DELETE no action
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE UNIQUE INDEX `leads_by_uuid` ON `stored_leads` (`account`,`uuid`);
--> statement-breakpoint
CREATE INDEX `leads_by_email` ON `stored_leads` (`account`,`has_email`,`identified_at`);
--> statement-breakpoint
CREATE INDEX `leads_by_pixel` ON `stored_leads` (`account`,`pixel`,`has_email`,`identified_at`);
--> statement-breakpoint
CREATE INDEX `leads_by_state` ON `stored_leads` (`account`,`state`,`has_email`,`identified_at`);
--> statement-breakpoint
CREATE INDEX `leads_by_city` ON `stored_leads` (`account`,`city_key`,`has_email`,`identified_at`);
--> statement-breakpoint
CREATE INDEX `leads_by_pixel_state` ON `stored_leads` (`account`,`pixel`,`state`,`has_email`,`identified_at`);
--> statement-breakpoint
CREATE INDEX `leads_by_pixel_city` ON `stored_leads` (`account`,`pixel`,`city_key`,`has_email`,`identified_at`);
--> statement-breakpoint
CREATE INDEX `leads_by_state_city` ON `stored_leads` (`account`,`state`,`city_key`,`has_email`,`identified_at`);
--> statement-breakpoint
CREATE INDEX `leads_by_pixel_state_city` ON `stored_leads` (`account`,`pixel`,`state`,`city_key`,`has_email`,`identified_at`);
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
CREATE UNIQUE INDEX `pixels_by_id` ON `pixels` (`account`,`id`);
--> statement-breakpoint
CREATE TABLE `usage` (
	`key` integer NOT NULL,
	`day` text NOT NULL,
	`requests` integer NOT NULL,
	PRIMARY KEY(`key`, `day`),
	FOREIGN KEY (`key`) REFERENCES `keys`(`number`) ON UPDATE no action ON DELETE no action
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE VIEW `leads` AS SELECT account, identified_at AS identified_ms, doc ->> '$.id' AS id, doc ->> '$.identified_at' AS identified_at, doc ->> '$.pixel_id' AS pixel_id, doc ->> '$.name' AS name, doc ->> '$.email' AS email, doc ->> '$.verified_email' AS verified_email, doc ->> '$.phone' AS phone, doc ->> '$.company' AS company, doc ->> '$.city' AS city, state, doc ->> '$.gender' AS gender, doc ->> '$.age_range' AS age_range, doc ->> '$.income_range' AS income_range, doc ->> '$.net_worth' AS net_worth, doc ->> '$.marital_status' AS marital_status, doc ->> '$.homeowner' AS homeowner, doc ->> '$.children' AS children, doc ->> '$.page_url' AS page_url, doc ->> '$.referrer' AS referrer, doc ->> '$.traffic_source' AS traffic_source FROM stored_leads;
