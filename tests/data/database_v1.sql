BEGIN TRANSACTION;
CREATE TABLE collections (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	name VARCHAR(80) NOT NULL, 
	created_at VARCHAR(32) NOT NULL, 
	UNIQUE (name)
);
INSERT INTO "collections" VALUES(1,'rivers','2026-11-22T01:48:15+00:00');
CREATE TABLE document_vectors (
	collection_id INTEGER NOT NULL, 
	document_id INTEGER NOT NULL, 
	passage INTEGER NOT NULL, 
	data BLOB NOT NULL, 
	PRIMARY KEY (collection_id, document_id, passage)
)
 WITHOUT ROWID

;
INSERT INTO "document_vectors" VALUES(1,1,0,X'0000803F');
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
INSERT INTO "documents" VALUES(1,1,'rhine.txt','/tmp/rhine.txt','71fdb8fe465ef7bbe37b0427bf34d2a121b0adb9c895df10ec4fc45ccb84febf','ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',32,'2026-11-22T01:48:15+00:00','a-model/1','{"id":"f6aed302704d18d7","url":"collection:rivers/rhine.txt","title":"Rhine","site":"example.org","kind":"web","fetched_at":"2026-11-01T10:00:00+00:00","sha256":"71fdb8fe465ef7bbe37b0427bf34d2a121b0adb9c895df10ec4fc45ccb84febf","published":"","reference":"","breaks":[],"etag":"","last_modified":"","origin":""}','Rhine','The Rhine reaches the North Sea.');
INSERT INTO "documents" VALUES(2,1,'elbe.txt','/tmp/elbe.txt','4fe50bda958605cb936c2ef8c4e10d03fa2280e4763d0a408f66b7c1d1671a7b','eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee',28,'2026-11-22T01:48:15+00:00','','{"id":"43d2c30cb5fbe503","url":"collection:rivers/elbe.txt","title":"Elbe","site":"example.org","kind":"web","fetched_at":"2026-11-01T10:00:00+00:00","sha256":"4fe50bda958605cb936c2ef8c4e10d03fa2280e4763d0a408f66b7c1d1671a7b","published":"","reference":"","breaks":[],"etag":"","last_modified":"","origin":""}','Elbe','The Elbe flows past Hamburg.');
CREATE TABLE frozen_pages (
	id VARCHAR(16) NOT NULL, 
	body TEXT NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "frozen_pages" VALUES('c815a4719c143a1b','{"id":"c815a4719c143a1b","url":"https://example.org/frozen","title":"A title","site":"example.org","kind":"web","fetched_at":"2026-11-01T10:00:00+00:00","sha256":"b2d022d31e9a60b7667efd3a37cc83edee0d0380057b929e68d1c40a4ed4cef9","published":"","text":"A frozen page.","reference":"","breaks":[],"etag":"","last_modified":"","origin":""}');
CREATE TABLE judgements (
	"key" VARCHAR(16) NOT NULL, 
	body TEXT NOT NULL, 
	PRIMARY KEY ("key")
);
INSERT INTO "judgements" VALUES('j1','{"p": {"entailed": 0.9, "contradicted": 0.05, "no_relation": 0.05}, "sentence": [0, 21], "signals": {"words": 1.0}}');
CREATE TABLE meta (
	schema_version INTEGER NOT NULL
);
INSERT INTO "meta" VALUES(1);
CREATE TABLE pages (
	id VARCHAR(16) NOT NULL, 
	url TEXT NOT NULL, 
	fetched_at VARCHAR(32) NOT NULL, 
	body TEXT NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "pages" VALUES('1c7cb2cd6b78d6bb','https://example.org/nile','2026-11-01T10:00:00+00:00','{"id":"1c7cb2cd6b78d6bb","url":"http://www.example.org/nile/?utm_source=x","title":"A title","site":"example.org","kind":"web","fetched_at":"2026-11-01T10:00:00+00:00","sha256":"d013baa8544afc1d0c0c1c2e8220970fee144d8542183b1341e4e365db7637dc","published":"","text":"The Nile flows north.","reference":"","breaks":[],"etag":"","last_modified":"","origin":""}');
CREATE TABLE replies (
	"key" VARCHAR(16) NOT NULL, 
	body TEXT NOT NULL, 
	PRIMARY KEY ("key")
);
INSERT INTO "replies" VALUES('r1','a reply');
CREATE TABLE responses (
	page_id VARCHAR(16) NOT NULL, 
	url TEXT NOT NULL, 
	received_at VARCHAR(32) NOT NULL, 
	status INTEGER NOT NULL, 
	headers TEXT NOT NULL, 
	body BLOB NOT NULL, 
	PRIMARY KEY (page_id)
);
INSERT INTO "responses" VALUES('1c7cb2cd6b78d6bb','http://www.example.org/nile/','2026-11-01T12:00:00+00:00',200,'[["Content-Type", "text/plain"]]',X'789C0BC94855F0CBCC495548CBC92F2F56C8CB2F2AC9D00300515A078E');
CREATE TABLE runs (
	id VARCHAR(16) NOT NULL, 
	created_at VARCHAR(32) NOT NULL, 
	question TEXT NOT NULL, 
	report TEXT NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "runs" VALUES('0123456789abcdef','2026-11-01T12:00:00+00:00','Where does the Nile flow?','{
 "id": "0123456789abcdef",
 "created_at": "2026-11-01T12:00:00+00:00",
 "question": "Where does the Nile flow?",
 "answer": "The Nile flows north.",
 "settings": {
  "verifier_model": "",
  "top_k": 5
 },
 "versions": {
  "pipeline": "2"
 },
 "claims": [
  {
   "id": "d013baa8544afc1d",
   "text": "The Nile flows north.",
   "spans": [
    [
     0,
     21
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
   "id": "1c7cb2cd6b78d6bb",
   "url": "http://www.example.org/nile/?utm_source=x",
   "title": "A title",
   "site": "example.org",
   "kind": "web",
   "fetched_at": "2026-11-01T10:00:00+00:00",
   "sha256": "d013baa8544afc1d0c0c1c2e8220970fee144d8542183b1341e4e365db7637dc",
   "published": "",
   "reference": "",
   "breaks": [],
   "etag": "",
   "last_modified": "",
   "origin": ""
  }
 ],
 "evidence": [
  {
   "claim_id": "d013baa8544afc1d",
   "page_id": "1c7cb2cd6b78d6bb",
   "start": 0,
   "end": 21,
   "text": "The Nile flows north.",
   "similarity": 0.5,
   "relation": "entailed",
   "probabilities": {
    "entailed": 0.9,
    "contradicted": 0.05,
    "no_relation": 0.049999999999999975
   },
   "sentence": [
    0,
    21
   ],
   "query": "Nile",
   "searcher": "duckduckgo",
   "rank": 1,
   "signals": {}
  }
 ],
 "verdicts": [
  {
   "claim_id": "d013baa8544afc1d",
   "label": "supported",
   "confidence": 0.9,
   "reason": "entailed",
   "without_added": null
  }
 ],
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
}');
INSERT INTO "runs" VALUES('fedcba9876543210','2026-11-01T12:00:00+00:00','Where does the Nile flow?','{
 "id": "fedcba9876543210",
 "created_at": "2026-11-01T12:00:00+00:00",
 "question": "Where does the Nile flow?",
 "answer": "The Nile flows north.",
 "settings": {
  "verifier_model": "",
  "top_k": 5
 },
 "versions": {
  "pipeline": "2"
 },
 "claims": [
  {
   "id": "d013baa8544afc1d",
   "text": "The Nile flows north.",
   "spans": [
    [
     0,
     21
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
   "id": "c815a4719c143a1b",
   "url": "https://example.org/frozen",
   "title": "A title",
   "site": "example.org",
   "kind": "web",
   "fetched_at": "2026-11-01T10:00:00+00:00",
   "sha256": "b2d022d31e9a60b7667efd3a37cc83edee0d0380057b929e68d1c40a4ed4cef9",
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
}');
CREATE TABLE searches (
	searcher VARCHAR(64) NOT NULL, 
	"query" VARCHAR(1024) NOT NULL, 
	k INTEGER NOT NULL, 
	made_at VARCHAR(32) NOT NULL, 
	hits TEXT NOT NULL, 
	PRIMARY KEY (searcher, "query", k)
);
INSERT INTO "searches" VALUES('duckduckgo','Nile',3,'2026-11-22T01:48:15+00:00','[{"url": "http://www.example.org/nile/?utm_source=x", "title": "A title", "rank": 1, "searcher": "duckduckgo", "query": "Nile", "snippet": "a snippet"}]');
CREATE TABLE trails (
	run_id VARCHAR(16) NOT NULL, 
	body TEXT NOT NULL, 
	PRIMARY KEY (run_id)
);
INSERT INTO "trails" VALUES('0123456789abcdef','{"traces":[{"claim_id":"d013baa8544afc1d","page_id":"1c7cb2cd6b78d6bb","query":"Nile","searcher":"duckduckgo","rank":1}],"concerns":{},"chunks":{"1c7cb2cd6b78d6bb":[[0,21]]},"vectors":["v1"],"judgements":["j1"]}');
CREATE TABLE vectors (
	"key" VARCHAR(16) NOT NULL, 
	data BLOB NOT NULL, 
	PRIMARY KEY ("key")
);
INSERT INTO "vectors" VALUES('v1',X'0000803F');
CREATE INDEX ix_pages_url ON pages (url);
CREATE INDEX documents_facts ON documents (collection_id, embedded, characters, added_at);
CREATE VIRTUAL TABLE documents_text_1 USING fts5(title, text, content='documents', content_rowid='id', tokenize='porter unicode61');
INSERT INTO documents_text_1(documents_text_1) VALUES ('rebuild');
COMMIT;
