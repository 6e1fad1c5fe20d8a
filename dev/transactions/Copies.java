// SPDX-License-Identifier: Apache-2.0
// Kafka Streams, exactly once: each record goes to the partition that its value names.
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Produced;

public class Copies {
    public static void main(String[] names) throws Exception {
        Properties settings = new Properties();
        settings.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, names[0]);
        settings.put(StreamsConfig.APPLICATION_ID_CONFIG, names[1]);
        settings.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
        settings.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, 300);
        settings.put(StreamsConfig.STATE_DIR_CONFIG, names[4]);
        settings.put("auto.offset.reset", "earliest");
        settings.put("group.protocol", names[5]);
        StreamsBuilder builder = new StreamsBuilder();
        builder.stream(names[2], Consumed.with(Serdes.String(), Serdes.String()))
            .to(names[3], Produced.with(Serdes.String(), Serdes.String()).withStreamPartitioner(
                (topic, key, value, count) -> Optional.of(Set.of(Integer.parseInt(value)))));
        KafkaStreams streams = new KafkaStreams(builder.build(), settings);
        Runtime.getRuntime().addShutdownHook(new Thread(streams::close));
        streams.start();
        Thread.currentThread().join();
    }
}
