package cricketapp

// Facts exports facts to the replay checks of package cricketapp_test.
var Facts = facts
