BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('initial');
CREATE TABLE annotation_events (
	project_id VARCHAR(16) NOT NULL, 
	id VARCHAR(16) NOT NULL, 
	body TEXT NOT NULL, 
	PRIMARY KEY (project_id, id)
);
CREATE TABLE annotation_judgements (
	id VARCHAR(16) NOT NULL, 
	project_id VARCHAR(16) NOT NULL, 
	task_id VARCHAR(16) NOT NULL, 
	annotator VARCHAR(80) NOT NULL, 
	role VARCHAR(16) NOT NULL, 
	revision INTEGER NOT NULL, 
	origin VARCHAR(16) NOT NULL, 
	made_at VARCHAR(32) NOT NULL, 
	answer VARCHAR(16) NOT NULL, 
	body TEXT NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (task_id, annotator, role, revision, origin)
);
CREATE TABLE annotation_projects (
	id VARCHAR(16) NOT NULL, 
	origin VARCHAR(16) NOT NULL, 
	body TEXT NOT NULL, 
	PRIMARY KEY (id)
);
CREATE TABLE annotation_tasks (
	id VARCHAR(16) NOT NULL, 
	project_id VARCHAR(16) NOT NULL, 
	body TEXT NOT NULL, 
	source TEXT NOT NULL, 
	PRIMARY KEY (id)
);
CREATE TABLE collections (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	name VARCHAR(80) NOT NULL, 
	created_at VARCHAR(32) NOT NULL, 
	UNIQUE (name)
);
CREATE TABLE document_vectors (
	collection_id INTEGER NOT NULL, 
	document_id INTEGER NOT NULL, 
	passage INTEGER NOT NULL, 
	data BLOB NOT NULL, 
	PRIMARY KEY (collection_id, document_id, passage)
)
 WITHOUT ROWID

;
CREATE TABLE documents (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	collection_id INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	origin TEXT NOT NULL, 
	sha256 VARCHAR(64) NOT NULL, 
	source_sha256 VARCHAR(64) NOT NULL, 
	characters INTEGER NOT NULL, 
	added_at VARCHAR(32) NOT NULL, 
	embedded VARCHAR(64) NOT NULL, 
	about TEXT NOT NULL, 
	title TEXT NOT NULL, 
	text TEXT NOT NULL, 
	UNIQUE (collection_id, name), 
	UNIQUE (collection_id, sha256), 
	UNIQUE (collection_id, origin)
);
CREATE TABLE frozen_pages (
	id VARCHAR(16) NOT NULL, 
	body TEXT NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "frozen_pages" VALUES('4fae093f84f24747','{"id":"4fae093f84f24747","url":"https://example.org/a","title":"A title","site":"example.org","kind":"web","fetched_at":"2026-11-01T00:00:00+00:00","sha256":"631995b6f4d0b90967e537277807b3da05a49612ea727f13d63802c1ba9f643e","published":"","text":"A page with a text.","reference":"","breaks":[],"etag":"","last_modified":"","origin":""}');
CREATE TABLE judgements (
	"key" VARCHAR(16) NOT NULL, 
	body TEXT NOT NULL, 
	PRIMARY KEY ("key")
);
CREATE TABLE pages (
	id VARCHAR(16) NOT NULL, 
	url TEXT NOT NULL, 
	fetched_at VARCHAR(32) NOT NULL, 
	body TEXT NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "pages" VALUES('4fae093f84f24747','https://example.org/a','2026-11-01T00:00:00+00:00','{"id":"4fae093f84f24747","url":"https://example.org/a","title":"A title","site":"example.org","kind":"web","fetched_at":"2026-11-01T00:00:00+00:00","sha256":"631995b6f4d0b90967e537277807b3da05a49612ea727f13d63802c1ba9f643e","published":"","text":"A page with a text.","reference":"","breaks":[],"etag":"","last_modified":"","origin":""}');
CREATE TABLE replies (
	"key" VARCHAR(16) NOT NULL, 
	body TEXT NOT NULL, 
	PRIMARY KEY ("key")
);
INSERT INTO "replies" VALUES('k','a reply');
CREATE TABLE results (
	kind VARCHAR(16) NOT NULL, 
	id VARCHAR(16) NOT NULL, 
	created_at VARCHAR(32) NOT NULL, 
	body TEXT NOT NULL, 
	owner VARCHAR(64) NOT NULL, 
	PRIMARY KEY (kind, id)
);
INSERT INTO "results" VALUES('grid','fedcba9876543210','2026-11-28T00:04:31+00:00','{"rows": 1}','14e814b87108d3f234aa76a249373046ed40ddaaed878317c97d2483a6637094');
CREATE TABLE run_documents (
	run_id VARCHAR(16) NOT NULL, 
	number INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	media_type TEXT NOT NULL, 
	content BLOB NOT NULL, 
	PRIMARY KEY (run_id, number)
);
CREATE TABLE run_summaries (
	run_id VARCHAR(16) NOT NULL, 
	number INTEGER NOT NULL, 
	claims INTEGER NOT NULL, 
	verdicts TEXT NOT NULL, 
	sources TEXT NOT NULL, 
	search_text TEXT NOT NULL, 
	PRIMARY KEY (run_id, number)
);
INSERT INTO "run_summaries" VALUES('0123456789abcdef',1,1,'{}','[]','q a the nile is long.');
INSERT INTO "run_summaries" VALUES('0123456789abcdef',2,1,'{}','[]','q a edited.');
CREATE TABLE run_versions (
	run_id VARCHAR(16) NOT NULL, 
	number INTEGER NOT NULL, 
	parent INTEGER NOT NULL, 
	created_at VARCHAR(32) NOT NULL, 
	claim_id TEXT NOT NULL, 
	report TEXT NOT NULL, 
	provenance TEXT NOT NULL, 
	edit TEXT NOT NULL, 
	PRIMARY KEY (run_id, number)
);
INSERT INTO "run_versions" VALUES('0123456789abcdef',1,0,'2026-11-28T00:04:31+00:00','','{
 "id": "0123456789abcdef",
 "created_at": "2026-11-01T00:00:00+00:00",
 "question": "q",
 "answer": "a",
 "settings": {},
 "versions": {},
 "claims": [
  {
   "id": "b6685fc3514d33e7",
   "text": "The Nile is long.",
   "spans": [
    [
     0,
     17
    ]
   ],
   "sentence": null,
   "alignment": 1.0,
   "coherence": null,
   "coherent": true,
   "worthiness": "factual",
   "worthiness_reason": "",
   "independent": null,
   "independence_reason": "",
   "enriched": null
  }
 ],
 "pages": [
  {
   "id": "4fae093f84f24747",
   "url": "https://example.org/a",
   "title": "A title",
   "site": "example.org",
   "kind": "web",
   "fetched_at": "2026-11-01T00:00:00+00:00",
   "sha256": "631995b6f4d0b90967e537277807b3da05a49612ea727f13d63802c1ba9f643e",
   "published": "",
   "reference": "",
   "breaks": [],
   "etag": "",
   "last_modified": "",
   "origin": ""
  }
 ],
 "evidence": [],
 "verdicts": [],
 "failures": [],
 "timings": {},
 "usage": {
  "claims": 0,
  "searches": 0,
  "queries": 0,
  "pages": 0,
  "downloads": 0,
  "seconds": 0.0,
  "chunks": 0,
  "pairs": 0,
  "cached_pairs": 0,
  "llm": {}
 },
 "stopped": false
}','{"traces":[],"concerns":{},"chunks":{},"vectors":[],"judgements":[]}','');
INSERT INTO "run_versions" VALUES('0123456789abcdef',2,1,'2026-11-28T00:04:31+00:00','b6685fc3514d33e7','{
 "id": "0123456789abcdef",
 "created_at": "2026-11-01T00:00:00+00:00",
 "question": "q",
 "answer": "a",
 "settings": {},
 "versions": {},
 "claims": [
  {
   "id": "b6685fc3514d33e7",
   "text": "Edited.",
   "spans": [
    [
     0,
     17
    ]
   ],
   "sentence": null,
   "alignment": 1.0,
   "coherence": null,
   "coherent": true,
   "worthiness": "factual",
   "worthiness_reason": "",
   "independent": null,
   "independence_reason": "",
   "enriched": null
  }
 ],
 "pages": [
  {
   "id": "4fae093f84f24747",
   "url": "https://example.org/a",
   "title": "A title",
   "site": "example.org",
   "kind": "web",
   "fetched_at": "2026-11-01T00:00:00+00:00",
   "sha256": "631995b6f4d0b90967e537277807b3da05a49612ea727f13d63802c1ba9f643e",
   "published": "",
   "reference": "",
   "breaks": [],
   "etag": "",
   "last_modified": "",
   "origin": ""
  }
 ],
 "evidence": [],
 "verdicts": [],
 "failures": [],
 "timings": {},
 "usage": {
  "claims": 0,
  "searches": 0,
  "queries": 0,
  "pages": 0,
  "downloads": 0,
  "seconds": 0.0,
  "chunks": 0,
  "pairs": 0,
  "cached_pairs": 0,
  "llm": {}
 },
 "stopped": false,
 "edits": [
  {
   "at": "2026-11-01T00:00:00+00:00",
   "change": {
    "kind": "reword",
    "claim_id": "b6685fc3514d33e7",
    "text": "Edited."
   },
   "subject": "",
   "claims": [
    "b6685fc3514d33e7"
   ]
  }
 ]
}','','{"at":"2026-11-01T00:00:00+00:00","change":{"kind":"reword","claim_id":"b6685fc3514d33e7","text":"Edited."},"subject":"","claims":["b6685fc3514d33e7"]}');
CREATE TABLE runs (
	id VARCHAR(16) NOT NULL, 
	created_at VARCHAR(32) NOT NULL, 
	question TEXT NOT NULL, 
	answer TEXT NOT NULL, 
	settings TEXT NOT NULL, 
	version INTEGER NOT NULL, 
	owner VARCHAR(64) NOT NULL, 
	private BOOLEAN NOT NULL, 
	title TEXT NOT NULL, 
	tags TEXT NOT NULL, 
	note TEXT NOT NULL, 
	search_text TEXT NOT NULL, 
	deleted_at VARCHAR(32) NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "runs" VALUES('0123456789abcdef','2026-11-01T00:00:00+00:00','q','a','{}',2,'14e814b87108d3f234aa76a249373046ed40ddaaed878317c97d2483a6637094',0,'','[]','','','');
CREATE TABLE searches (
	searcher VARCHAR(64) NOT NULL, 
	"query" VARCHAR(1024) NOT NULL, 
	k INTEGER NOT NULL, 
	made_at VARCHAR(32) NOT NULL, 
	hits TEXT NOT NULL, 
	PRIMARY KEY (searcher, "query", k)
);
CREATE TABLE unfinished_runs (
	run_id VARCHAR(16) NOT NULL, 
	saved_at VARCHAR(32) NOT NULL, 
	report TEXT NOT NULL, 
	PRIMARY KEY (run_id)
);
CREATE TABLE uses (
	kind VARCHAR(16) NOT NULL, 
	"key" TEXT NOT NULL, 
	owner_id VARCHAR(16) NOT NULL, 
	PRIMARY KEY (kind, "key", owner_id)
);
INSERT INTO "uses" VALUES('page','4fae093f84f24747','0123456789abcdef');
INSERT INTO "uses" VALUES('page','4fae093f84f24747','fedcba9876543210');
CREATE TABLE vectors (
	"key" VARCHAR(16) NOT NULL, 
	data BLOB NOT NULL, 
	PRIMARY KEY ("key")
);
INSERT INTO "vectors" VALUES('v',X'31323334');
CREATE INDEX ix_pages_url ON pages (url);
CREATE INDEX runs_of_owner ON runs (owner, created_at);
CREATE INDEX ix_uses_owner_id ON uses (owner_id);
CREATE INDEX documents_facts ON documents (collection_id, embedded, characters, added_at);
CREATE INDEX ix_annotation_tasks_project_id ON annotation_tasks (project_id);
CREATE INDEX ix_annotation_judgements_project_id ON annotation_judgements (project_id);
DELETE FROM "sqlite_sequence";
COMMIT;