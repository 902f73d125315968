"""PartiQL: one statement, a batch, a transaction."""

from harness import LOCAL, bare, client, done, refused, same, simple_table

c = client()


def run(statement, *parameters, **more):
    if parameters:
        more["Parameters"] = list(parameters)
    return c.execute_statement(Statement=statement, **more)


def item(number, **more):
    return {"pk": {"S": "p"}, "sk": {"N": str(number)}, **more}


def single():
    same("INSERT", bare(run("INSERT INTO \"Part\" VALUE {'pk': 'p', 'sk': 1, 'l': [1, 'a', true, null], "
                            "'m': {'x': 1.5}, 's': <<'a','b'>>}"))["Items"], [])
    got = run("SELECT * FROM \"Part\" WHERE pk = 'p' AND sk = 1")["Items"]
    got[0]["s"]["SS"].sort()
    same("SELECT", got, [item(1, l={"L": [{"N": "1"}, {"S": "a"}, {"BOOL": True}, {"NULL": True}]},
                              m={"M": {"x": {"N": "1.5"}}}, s={"SS": ["a", "b"]})])
    refused("INSERT twice", "DuplicateItem" if LOCAL else "DuplicateItemException", lambda: run("INSERT INTO Part VALUE {'pk': 'p', 'sk': 1}"),
            "Duplicate primary key exists in table")
    run("INSERT INTO Part VALUE {'pk': ?, 'sk': ?, 'b': ?}", {"S": "p"}, {"N": "2"}, {"B": b"\x00\xff"})
    same("parameters", run("SELECT b FROM Part WHERE pk = ? AND sk = ?", {"S": "p"}, {"N": "2"})["Items"],
         [{"b": {"B": b"\x00\xff"}}])
    got = run("UPDATE Part SET n = 1 SET m.y = 'new' REMOVE l WHERE pk = 'p' AND sk = 1 RETURNING ALL NEW *")["Items"]
    got[0]["s"]["SS"].sort()
    same("UPDATE", got, [item(1, n={"N": "1"}, m={"M": {"x": {"N": "1.5"}, "y": {"S": "new"}}}, s={"SS": ["a", "b"]})])
    same("UPDATE with a sum", run("UPDATE Part SET n = n + ? WHERE pk = 'p' AND sk = 1 RETURNING MODIFIED NEW *",
                                  {"N": "41"})["Items"], [{"n": {"N": "42"}}])
    same("a path", run("SELECT m.y FROM Part WHERE pk = 'p' AND sk = 1")["Items"], [{"y": {"S": "new"}}])
    refused("UPDATE of nothing", "ConditionalCheckFailedException",
            lambda: run("UPDATE Part SET n = 1 WHERE pk = 'p' AND sk = 99"), "The conditional request failed")
    refused("UPDATE with a condition", "ConditionalCheckFailedException",
            lambda: run("UPDATE Part SET n = 1 WHERE pk = 'p' AND sk = 1 AND n = 7"))
    same("DELETE", run("DELETE FROM Part WHERE pk = 'p' AND sk = 2 RETURNING ALL OLD *")["Items"],
         [item(2, b={"B": b"\x00\xff"})])
    same("what is gone", run("SELECT * FROM Part WHERE pk = 'p' AND sk = 2")["Items"], [])
    refused("what is no statement", "ValidationException", lambda: run("SELEKT * FROM Part"))
    refused("a table that is not there", "ResourceNotFoundException", lambda: run("SELECT * FROM nothere"))


def pages():
    for n in range(10, 30):
        run("INSERT INTO Part VALUE {'pk': 'page', 'sk': ?, 'odd': ?}", {"N": str(n)}, {"BOOL": n % 2 == 1})
    found, more, rounds = [], {}, 0
    while True:
        got = run("SELECT sk FROM Part WHERE pk = 'page' AND sk >= 12", Limit=5, **more)
        found += [int(i["sk"]["N"]) for i in got["Items"]]
        rounds += 1
        if "NextToken" not in got:
            break
        more = {"NextToken": got["NextToken"]}
    same("pages", found, list(range(12, 30)))
    same("of five", rounds, 4)
    for condition, want in [
            ("sk BETWEEN 12 AND 14", [12, 13, 14]), ("sk > 27", [28, 29]), ("odd = true AND sk < 14", [11, 13]),
            ("sk IN [11, 15]", [11, 15]), ("attribute_type(odd, 'BOOL') AND sk > 28", [29]), ("sk > 26 AND NOT odd = true", [28])]:
        got = run(f"SELECT sk FROM Part WHERE pk = 'page' AND {condition}")["Items"]
        same(condition, [int(i["sk"]["N"]) for i in got], want)
    if not LOCAL:  # it fails
        got = run("SELECT sk FROM Part WHERE pk = 'page' ORDER BY sk DESC", Limit=2)["Items"]
        same("ORDER BY", [int(i["sk"]["N"]) for i in got], [29, 28])


def batch():
    got = c.batch_execute_statement(Statements=[
        {"Statement": "SELECT sk FROM Part WHERE pk = 'page' AND sk = 11"},
        {"Statement": "SELECT sk FROM Part WHERE pk = 'page' AND sk = 999"},
        {"Statement": "SELECT sk FROM Part WHERE pk = ? AND sk = ?", "Parameters": [{"S": "page"}, {"N": "12"}]}])["Responses"]
    same("a batch of reads", [r.get("Item") for r in got], [{"sk": {"N": "11"}}, None, {"sk": {"N": "12"}}])
    got = c.batch_execute_statement(Statements=[
        {"Statement": "INSERT INTO Part VALUE {'pk': 'batch', 'sk': 1}"},
        {"Statement": "INSERT INTO Part VALUE {'pk': 'page', 'sk': 11}"},
        {"Statement": "UPDATE Part SET x = 1 WHERE pk = 'page' AND sk = 12"}])["Responses"]
    same("one of a batch may fail", [r.get("Error", {}).get("Code") for r in got], [None, "DuplicateItem", None])


def transaction():
    same("a transaction", bare(c.execute_transaction(TransactStatements=[
        {"Statement": "INSERT INTO Part VALUE {'pk': 'tx', 'sk': 1}"},
        {"Statement": "UPDATE Part SET x = ? WHERE pk = 'page' AND sk = 13", "Parameters": [{"N": "5"}]},
        {"Statement": "DELETE FROM Part WHERE pk = 'page' AND sk = 14"}])).get("Responses", []) in ([], [{}, {}, {}]), True)
    got = c.execute_transaction(TransactStatements=[
        {"Statement": "SELECT x FROM Part WHERE pk = 'page' AND sk = 13"},
        {"Statement": "SELECT * FROM Part WHERE pk = 'page' AND sk = 14"}])["Responses"]
    same("a transaction of reads", got, [{"Item": {"x": {"N": "5"}}}, {}])
    error = refused("a transaction that fails", "TransactionCanceledException", lambda: c.execute_transaction(TransactStatements=[
        {"Statement": "UPDATE Part SET x = 6 WHERE pk = 'page' AND sk = 13"},
        {"Statement": "INSERT INTO Part VALUE {'pk': 'tx', 'sk': 1}"}]))
    same("its reasons", [r["Code"] for r in error["CancellationReasons"]], ["None", "DuplicateItem"], local=["None", "ValidationError"])
    same("nothing of it is done", run("SELECT x FROM Part WHERE pk = 'page' AND sk = 13")["Items"], [{"x": {"N": "5"}}])


def main():
    simple_table(c, "Part")
    single()
    pages()
    batch()
    transaction()


main()
done("partiql")
