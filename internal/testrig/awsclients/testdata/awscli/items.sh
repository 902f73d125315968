# Items with the AWS CLI: values, conditions, queries, batches, transactions, PartiQL, legacy parameters.
. ./harness.sh

d create-table --table-name Items --billing-mode PAY_PER_REQUEST \
	--attribute-definitions AttributeName=pk,AttributeType=S AttributeName=sk,AttributeType=N \
	--key-schema AttributeName=pk,KeyType=HASH AttributeName=sk,KeyType=RANGE >/dev/null
d wait table-exists --table-name Items

key='{"pk":{"S":"k"},"sk":{"N":"1"}}'
# The CLI takes raw bytes and prints base64.
item='{"b":{"B":"abc"},"big":{"N":"12345678901234567890123456789012345678"},"l":{"L":[{"S":""},{"NULL":true},{"M":{"x":{"BOOL":false}}}]},"pk":{"S":"k"},"s":{"SS":["é"]},"sk":{"N":"1"}}'
d put-item --table-name Items --item "$item"
same 'types that come back' "$(d get-item --table-name Items --key "$key" --consistent-read --query Item | compact)" "$(echo "$item" | sed s/abc/YWJj/)"
same 'a projection' "$(d get-item --table-name Items --key "$key" --projection-expression 'l[2].x, #b' \
	--expression-attribute-names '{"#b":"b"}' --query Item | compact)" '{"b":{"B":"YWJj"},"l":{"L":[{"M":{"x":{"BOOL":false}}}]}}'
same 'nothing' "$(d get-item --table-name Items --key '{"pk":{"S":"none"},"sk":{"N":"1"}}' | compact)" ''
same 'an update' "$(d update-item --table-name Items --key "$key" --return-values UPDATED_NEW \
	--update-expression 'SET n = if_not_exists(n, :z) + :o, l[0] = :t' \
	--expression-attribute-values '{":z":{"N":"41"},":o":{"N":"1"},":t":{"S":"t"}}' --query Attributes.n.N --output text)" 42
refused 'a condition' 'An error occurred (ConditionalCheckFailedException) when calling the PutItem operation: The conditional request failed' \
	d put-item --table-name Items --item "$key" --condition-expression 'attribute_not_exists(pk)'
refused 'a number' 'An error occurred (ValidationException) when calling the PutItem operation' \
	d put-item --table-name Items --item '{"pk":{"S":"k"},"sk":{"N":"x"}}'
same 'a delete' "$(d delete-item --table-name Items --key "$key" --return-values ALL_OLD --query Attributes.n.N --output text)" 42

batch=$("$PYTHON" -c 'import json
print(json.dumps({"Items": [{"PutRequest": {"Item": {"pk": {"S": "q"}, "sk": {"N": str(n)}, "even": {"BOOL": n % 2 == 0}}}} for n in range(25)]}))')
same 'a batch of writes' "$(d batch-write-item --request-items "$batch" --return-consumed-capacity TOTAL | compact)" \
	'{"ConsumedCapacity":[{"CapacityUnits":25.0,"TableName":"Items"}],"UnprocessedItems":{}}'
same 'a query, by pages' "$(d query --table-name Items --page-size 3 --key-condition-expression 'pk = :p AND sk BETWEEN :a AND :b' \
	--filter-expression 'even = :e' --expression-attribute-values '{":p":{"S":"q"},":a":{"N":"3"},":b":{"N":"11"},":e":{"BOOL":true}}' \
	--query 'Items[].sk.N' --output text | tr '\t\n' '  ')" '4 6 8 10 '
same 'backwards' "$(d query --table-name Items --no-scan-index-forward --limit 2 --no-paginate --key-condition-expression 'pk = :p' \
	--expression-attribute-values '{":p":{"S":"q"}}' --query '[Items[].sk.N,LastEvaluatedKey.sk.N]' | compact)" '[["24","23"],"23"]'
same 'a scan' "$(d scan --table-name Items --page-size 10 --select COUNT --query Count)" 25
same 'two segments' "$(for s in 0 1; do d scan --table-name Items --total-segments 2 --segment $s --query 'Items[].sk.N' --output text; done |
	tr '\t' '\n' | grep -c .)" 25
same 'a batch of reads' "$(d batch-get-item --request-items '{"Items":{"Keys":[{"pk":{"S":"q"},"sk":{"N":"7"}},{"pk":{"S":"q"},"sk":{"N":"77"}}]}}' | compact)" \
	'{"Responses":{"Items":[{"even":{"BOOL":false},"pk":{"S":"q"},"sk":{"N":"7"}}]},"UnprocessedKeys":{}}'

d transact-write-items --client-request-token once --transact-items \
	'[{"Put":{"TableName":"Items","Item":{"pk":{"S":"t"},"sk":{"N":"1"}}}},{"Delete":{"TableName":"Items","Key":{"pk":{"S":"q"},"sk":{"N":"0"}}}}]'
note $? 'a transaction' failed done
same 'what it did' "$(d transact-get-items --query 'Responses' --transact-items \
	'[{"Get":{"TableName":"Items","Key":{"pk":{"S":"t"},"sk":{"N":"1"}}}},{"Get":{"TableName":"Items","Key":{"pk":{"S":"q"},"sk":{"N":"0"}}}}]' | compact)" \
	'[{"Item":{"pk":{"S":"t"},"sk":{"N":"1"}}},{}]'
refused 'a transaction that fails' 'An error occurred (TransactionCanceledException) when calling the TransactWriteItems operation: Transaction cancelled, please refer cancellation reasons for specific reasons [ConditionalCheckFailed]' \
	d transact-write-items --transact-items \
	'[{"Put":{"TableName":"Items","Item":{"pk":{"S":"t"},"sk":{"N":"1"}},"ConditionExpression":"attribute_not_exists(pk)"}}]'
refused 'another with the token' 'An error occurred (IdempotentParameterMismatchException) when calling the TransactWriteItems operation' \
	d transact-write-items --client-request-token once --transact-items '[{"Put":{"TableName":"Items","Item":{"pk":{"S":"t"},"sk":{"N":"2"}}}}]'

same 'a statement' "$(d execute-statement --statement 'SELECT sk FROM "Items" WHERE pk = ? AND sk > ?' \
	--parameters '[{"S":"q"},{"N":"22"}]' --query 'Items[].sk.N' --output text)" "$(printf '23\t24')"
same 'a batch of statements' "$(d batch-execute-statement --statements '[{"Statement":"SELECT sk FROM Items WHERE pk = '"'q'"' AND sk = 5"}]' \
	--query 'Responses[0].Item.sk.N' --output text)" 5
d execute-transaction --transact-statements '[{"Statement":"INSERT INTO Items VALUE {'"'pk':'x','sk':1"'}"}]' >/dev/null
note $? 'a transaction of statements' failed done

same 'legacy: KeyConditions' "$(d query --table-name Items --query 'Items[].sk.N' --output text --key-conditions \
	'{"pk":{"ComparisonOperator":"EQ","AttributeValueList":[{"S":"q"}]},"sk":{"ComparisonOperator":"LT","AttributeValueList":[{"N":"3"}]}}')" \
	"$(printf '1\t2')"
same 'legacy: AttributeUpdates' "$(d update-item --table-name Items --key '{"pk":{"S":"x"},"sk":{"N":"1"}}' --return-values ALL_NEW \
	--attribute-updates '{"v":{"Value":{"N":"7"},"Action":"ADD"}}' --expected '{"pk":{"Exists":true,"Value":{"S":"x"}}}' \
	--query Attributes.v.N --output text)" 7
same 'legacy: AttributesToGet' "$(d get-item --table-name Items --key '{"pk":{"S":"x"},"sk":{"N":"1"}}' --attributes-to-get v --query Item | compact)" \
	'{"v":{"N":"7"}}'
refused 'legacy: Expected' 'An error occurred (ConditionalCheckFailedException) when calling the DeleteItem operation' \
	d delete-item --table-name Items --key '{"pk":{"S":"x"},"sk":{"N":"1"}}' --expected '{"v":{"Value":{"N":"8"}}}'
finish items
