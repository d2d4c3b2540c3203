// Neo4j Community over Bolt, on a free port of the loopback address, with its data in the given folder.
// Prints its address, then runs until it is stopped.

import java.nio.file.Path;
import org.neo4j.configuration.GraphDatabaseSettings;
import org.neo4j.configuration.connectors.BoltConnector;
import org.neo4j.configuration.connectors.ConnectorPortRegister;
import org.neo4j.configuration.connectors.ConnectorType;
import org.neo4j.configuration.helpers.SocketAddress;
import org.neo4j.dbms.api.DatabaseManagementServiceBuilder;
import org.neo4j.io.ByteUnit;
import org.neo4j.kernel.internal.GraphDatabaseAPI;

class Neo4jServer {
    public static void main(String[] arguments) {
        var server = new DatabaseManagementServiceBuilder(Path.of(arguments[0]))
            .setConfig(BoltConnector.enabled, true)
            .setConfig(BoltConnector.listen_address, new SocketAddress("127.0.0.1", 0))
            .setConfig(GraphDatabaseSettings.auth_enabled, false)
            .setConfig(GraphDatabaseSettings.pagecache_memory, ByteUnit.mebiBytes(64))
            .build();
        Runtime.getRuntime().addShutdownHook(new Thread(server::shutdown));
        var graph = (GraphDatabaseAPI) server.database(GraphDatabaseSettings.DEFAULT_DATABASE_NAME);
        var ports = graph.getDependencyResolver().resolveDependency(ConnectorPortRegister.class);
        System.out.println("listening bolt://" + ports.getLocalAddress(ConnectorType.BOLT));
    }
}
