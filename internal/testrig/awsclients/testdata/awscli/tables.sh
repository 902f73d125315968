# Tables with the AWS CLI: waiters, indexes, settings.
. ./harness.sh

same 'a new table' "$(d create-table --table-name Music --billing-mode PAY_PER_REQUEST \
	--attribute-definitions AttributeName=artist,AttributeType=S AttributeName=song,AttributeType=S AttributeName=label,AttributeType=S \
	--key-schema AttributeName=artist,KeyType=HASH AttributeName=song,KeyType=RANGE \
	--global-secondary-indexes 'IndexName=byLabel,KeySchema=[{AttributeName=label,KeyType=HASH}],Projection={ProjectionType=KEYS_ONLY}' \
	--stream-specification StreamEnabled=true,StreamViewType=NEW_AND_OLD_IMAGES \
	--query TableDescription.TableName --output text)" Music
d wait table-exists --table-name Music
note $? 'wait table-exists' failed 'an end'
same 'its description' "$(d describe-table --table-name Music --query 'Table.[TableStatus,ItemCount,KeySchema[1].AttributeName,GlobalSecondaryIndexes[0].IndexStatus,BillingModeSummary.BillingMode]' --output text)" \
	"$(printf 'ACTIVE\t0\tsong\tACTIVE\tPAY_PER_REQUEST')"
refused 'a table that is there' 'An error occurred (ResourceInUseException) when calling the CreateTable operation' \
	d create-table --table-name Music --billing-mode PAY_PER_REQUEST \
	--attribute-definitions AttributeName=a,AttributeType=S --key-schema AttributeName=a,KeyType=HASH
refused 'a table that is not there' "An error occurred (ResourceNotFoundException) when calling the DescribeTable operation: $(
	local_or 'Cannot do operations on a non-existent table' 'Requested resource not found: Table: nothere not found')" \
	d describe-table --table-name nothere

for n in 1 2 3; do
	d create-table --table-name "list-$n" --billing-mode PAY_PER_REQUEST --attribute-definitions AttributeName=a,AttributeType=S \
		--key-schema AttributeName=a,KeyType=HASH >/dev/null
	note $? "table $n" failed made
done
same 'all tables, by pages' "$(d list-tables --page-size 2 --query 'TableNames' --output text | tr '\t\n' '  ')" 'Music list-1 list-2 list-3 '
same 'the first two' "$(d list-tables --max-items 2 --query 'TableNames' --output text | head -1)" "$(printf 'Music\tlist-1')"

d put-item --table-name Music --item '{"artist":{"S":"a"},"song":{"S":"s"},"genre":{"S":"jazz"}}'
note $? 'put-item' failed done
d update-table --table-name Music --attribute-definitions AttributeName=genre,AttributeType=S AttributeName=artist,AttributeType=S \
	AttributeName=song,AttributeType=S AttributeName=label,AttributeType=S --global-secondary-index-updates \
	'[{"Create":{"IndexName":"byGenre","KeySchema":[{"AttributeName":"genre","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}}]' >/dev/null
note $? 'an index more' failed done
until_same 'the index is built' ACTIVE d describe-table --table-name Music --output text \
	--query "Table.GlobalSecondaryIndexes[?IndexName=='byGenre'].IndexStatus"
same 'what it has' "$(d query --table-name Music --index-name byGenre --key-condition-expression 'genre = :g' \
	--expression-attribute-values '{":g":{"S":"jazz"}}' --query 'Items[].song.S' --output text)" s
d update-table --table-name Music --global-secondary-index-updates '[{"Delete":{"IndexName":"byGenre"}}]' >/dev/null
until_same 'the index is gone' byLabel d describe-table --table-name Music --query 'Table.GlobalSecondaryIndexes[].IndexName' --output text

d update-time-to-live --table-name Music --time-to-live-specification Enabled=true,AttributeName=expires >/dev/null
same 'time to live' "$(d describe-time-to-live --table-name Music --query TimeToLiveDescription.AttributeName --output text)" expires
if [ "$AGAINST" != local ]; then # it has no tags and does not know describe-endpoints
	arn=$(d describe-table --table-name Music --query Table.TableArn --output text)
	d tag-resource --resource-arn "$arn" --tags Key=stage,Value=dev Key=owner,Value=me
	d untag-resource --resource-arn "$arn" --tag-keys owner
	same 'tags' "$(d list-tags-of-resource --resource-arn "$arn" --query 'Tags[].[Key,Value]' --output text)" "$(printf 'stage\tdev')"
	same 'endpoints' "$(d describe-endpoints --query 'length(Endpoints)')" 1
fi

arn=$(d describe-table --table-name Music --query Table.LatestStreamArn --output text)
same 'streams' "$(aws dynamodbstreams list-streams --table-name Music --query 'Streams[].StreamArn' --output text)" "$arn"
events=
for shard in $(aws dynamodbstreams describe-stream --stream-arn "$arn" --query 'StreamDescription.Shards[].ShardId' --output text); do
	iterator=$(aws dynamodbstreams get-shard-iterator --stream-arn "$arn" --shard-id "$shard" --shard-iterator-type TRIM_HORIZON \
		--query ShardIterator --output text)
	events="$events$(aws dynamodbstreams get-records --shard-iterator "$iterator" \
		--query 'Records[].[eventName,dynamodb.Keys.song.S,dynamodb.NewImage.genre.S]' --output text)"
done
same 'records' "$events" "$(printf 'INSERT\ts\tjazz')"

d delete-table --table-name Music >/dev/null
d wait table-not-exists --table-name Music
note $? 'wait table-not-exists' failed 'an end'
finish tables
